// Command ferretdb speaks the wire protocol of MongoDB for the tests, on top of a PostgreSQL with the extension DocumentDB
// (contract section 10). It runs until a signal ends it. It takes all from the environment: nothing of it is seen in a list
// of processes.
package main

import (
	"context"
	"log"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/FerretDB/FerretDB/v2/ferretdb"
)

func main() {
	noTelemetry := false
	server, err := ferretdb.New(&ferretdb.Config{
		PostgreSQLURL: os.Getenv("FERRETDB_POSTGRESQL_URL"),
		ListenAddr:    os.Getenv("FERRETDB_LISTEN_ADDR"),
		StateDir:      os.Getenv("FERRETDB_STATE_DIR"),
		LogLevel:      slog.LevelWarn,
		LogOutput:     os.Stderr,
		Telemetry:     &noTelemetry,
	})
	if err != nil {
		log.Fatal(err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	server.Run(ctx)
}
