package main

import (
	"fmt"
	"log"
	"os"
	"strconv"
	"strings"
	"time"
)

// settings are the variables of ../service.py.
type settings struct {
	brokers                                        []string
	secretARN, caFile, topic1, topic2, group, host string
	interval                                       time.Duration
	isDebug                                        bool
}

func readSettings() (settings, error) {
	given := map[string]string{"LOG_LEVEL": "info", "MSG_FREQ": "60"}
	given["HOSTNAME"], _ = os.Hostname()
	for _, variable := range os.Environ() {
		if name, value, _ := strings.Cut(variable, "="); value != "" {
			given[name] = value
		}
	}
	for _, name := range []string{"KAFKA_BOOTSTRAP_SERVERS", "KAFKA_SECRET_ARN", "TOPIC1", "TOPIC2", "GROUP"} {
		if given[name] == "" {
			return settings{}, fmt.Errorf("%s is missing", name)
		}
	}
	if given["KAFKA_SECURITY"] != "scram" {
		return settings{}, fmt.Errorf("KAFKA_SECURITY is %q, expected scram", given["KAFKA_SECURITY"])
	}
	seconds, err := strconv.ParseFloat(given["MSG_FREQ"], 64)
	if err != nil {
		return settings{}, fmt.Errorf("MSG_FREQ is %q, expected seconds", given["MSG_FREQ"])
	}
	return settings{
		brokers:   strings.Split(given["KAFKA_BOOTSTRAP_SERVERS"], ","),
		secretARN: given["KAFKA_SECRET_ARN"],
		caFile:    given["KAFKA_CA_FILE"],
		topic1:    given["TOPIC1"],
		topic2:    given["TOPIC2"],
		group:     given["GROUP"],
		host:      given["HOSTNAME"],
		interval:  time.Duration(seconds * float64(time.Second)),
		isDebug:   given["LOG_LEVEL"] == "debug",
	}, nil
}

func (s settings) debug(format string, words ...any) {
	if s.isDebug {
		log.Printf(format, words...)
	}
}
