// A service that writes a message to a topic every few seconds, and logs those of another topic:
// ../service.py in Go, by kafka-go, with the same variables and the same lines in its log.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/segmentio/kafka-go"
)

const pause = time.Second

// A refusal lasts until somebody grants what is missing.
var refusals = []error{
	kafka.TopicAuthorizationFailed, kafka.GroupAuthorizationFailed, kafka.ClusterAuthorizationFailed,
}

type service struct {
	settings  settings
	transport *kafka.Transport
	dialer    *kafka.Dialer
}

func main() {
	log.SetFlags(0)
	log.SetOutput(os.Stdout)
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	settings, err := readSettings()
	if err != nil {
		return err
	}
	login, err := newLogin(ctx, settings.secretARN)
	if err != nil {
		return err
	}
	trust, err := trustedAuthorities(settings.caFile)
	if err != nil {
		return err
	}
	made := service{
		settings:  settings,
		transport: &kafka.Transport{TLS: trust, SASL: login},
		dialer:    &kafka.Dialer{Timeout: 10 * time.Second, TLS: trust, SASLMechanism: login},
	}
	if err := made.check(ctx); err != nil {
		return fmt.Errorf("%s: %w", settings.host, err)
	}
	ended := make(chan error, 2)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() { ended <- made.write(ctx) }()
	go func() { ended <- made.read(ctx) }()
	err = <-ended
	cancel() // a service that may only do one half does none
	return errors.Join(err, <-ended)
}

// check logs in once: a login that is refused later is one that is being rotated.
func (s service) check(ctx context.Context) error {
	client := kafka.Client{Addr: kafka.TCP(s.settings.brokers...), Transport: s.transport}
	_, err := client.Metadata(ctx, &kafka.MetadataRequest{Topics: []string{s.settings.topic1, s.settings.topic2}})
	return err
}

// write writes each message until a broker has it.
func (s service) write(ctx context.Context) error {
	writer := kafka.Writer{
		Addr:         kafka.TCP(s.settings.brokers...),
		Topic:        s.settings.topic1,
		BatchSize:    1,
		RequiredAcks: kafka.RequireAll,
		Transport:    s.transport,
		Completion:   s.logWritten,
	}
	defer writer.Close()
	for number := 1; s.settings.interval > 0 && ctx.Err() == nil; {
		text := fmt.Sprintf("This is message %d from host %s", number, s.settings.host)
		err := writer.WriteMessages(ctx, kafka.Message{Value: []byte(text)})
		if err == nil {
			number++
			wait(ctx, s.settings.interval)
		} else if err := s.judge(ctx, err); err != nil {
			return err
		}
	}
	<-ctx.Done() // one that writes nothing reads on
	return nil
}

func (s service) logWritten(messages []kafka.Message, err error) {
	if err == nil {
		s.settings.debug("writing %d messages to %s (partition: %d)", len(messages), s.settings.topic1, messages[0].Partition)
	}
}

// read commits the offset of a message after it is in the log.
func (s service) read(ctx context.Context) error {
	reader := kafka.NewReader(kafka.ReaderConfig{
		Brokers: s.settings.brokers,
		Topic:   s.settings.topic2,
		GroupID: s.settings.group,
		MaxWait: pause,
		Dialer:  s.dialer,
	})
	defer reader.Close()
	for {
		message, err := reader.FetchMessage(ctx)
		if err == nil {
			s.settings.debug("%s received message: %s", s.settings.host, message.Value)
			err = reader.CommitMessages(ctx, message)
		}
		if ctx.Err() != nil {
			return nil
		}
		if err := s.judge(ctx, err); err != nil {
			return err
		}
	}
}

// judge returns an error that lasts, with what the service must be granted; after others it waits.
func (s service) judge(ctx context.Context, err error) error {
	if err == nil || ctx.Err() != nil {
		return nil
	}
	var each kafka.WriteErrors
	if errors.As(err, &each) {
		err = errors.Join(each...)
	}
	for _, refusal := range refusals {
		if errors.Is(err, refusal) {
			return fmt.Errorf("%s: %w; %s must write %s, read %s and join %s: grant this to its program in the producer's root",
				s.settings.host, refusal, s.settings.host, s.settings.topic1, s.settings.topic2, s.settings.group)
		}
	}
	log.Printf("%s: %s; trying again", s.settings.host, strings.TrimSpace(err.Error()))
	wait(ctx, pause)
	return nil
}

func wait(ctx context.Context, duration time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(duration):
	}
}
