package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"os"

	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/segmentio/kafka-go/sasl"
	"github.com/segmentio/kafka-go/sasl/scram"
)

// login is SCRAM-SHA-512 with the user name and the password of a secret.
type login struct {
	secrets *secretsmanager.Client
	arn     string
}

func newLogin(ctx context.Context, arn string) (login, error) {
	loaded, err := config.LoadDefaultConfig(ctx)
	return login{secretsmanager.NewFromConfig(loaded), arn}, err
}

func (l login) Name() string { return scram.SHA512.Name() }

// Start begins a login. Each one reads the secret, so that a rotation is followed.
func (l login) Start(ctx context.Context) (sasl.StateMachine, []byte, error) {
	answer, err := l.secrets.GetSecretValue(ctx, &secretsmanager.GetSecretValueInput{SecretId: &l.arn})
	if err != nil {
		return nil, nil, fmt.Errorf("the secret %s cannot be read: %w", l.arn, err)
	}
	var secret struct{ Username, Password string }
	// Without the cause, which might quote the secret.
	if answer.SecretString == nil || json.Unmarshal([]byte(*answer.SecretString), &secret) != nil || secret.Username == "" {
		return nil, nil, fmt.Errorf("the secret %s is not as expected: a JSON object with username and password", l.arn)
	}
	mechanism, err := scram.Mechanism(scram.SHA512, secret.Username, secret.Password)
	if err != nil {
		return nil, nil, err
	}
	return mechanism.Start(ctx)
}

// trustedAuthorities are those of a file, or else the system's.
func trustedAuthorities(file string) (*tls.Config, error) {
	if file == "" {
		return &tls.Config{}, nil
	}
	found, err := os.ReadFile(file)
	pool := x509.NewCertPool()
	if err != nil || !pool.AppendCertsFromPEM(found) {
		return nil, fmt.Errorf("KAFKA_CA_FILE is %s, expected a file with certificates in PEM", file)
	}
	return &tls.Config{RootCAs: pool}, nil
}
