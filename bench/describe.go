package main

import (
	"context"
	"fmt"
	"runtime"
	"strings"

	"github.com/shirou/gopsutil/v4/cpu"
	"github.com/shirou/gopsutil/v4/host"
	"github.com/shirou/gopsutil/v4/mem"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"catalogue/bench/report"
	"catalogue/internal/mongodb"
)

// describe begins the report of a run with where it takes place.
func describe(ctx context.Context, db *mongo.Database, can mongodb.Capabilities) (report.Report, error) {
	machine, err := readMachine(ctx)
	if err != nil {
		return report.Report{}, err
	}
	version, err := readVersion(ctx, db)
	if err != nil {
		return report.Report{}, err
	}
	has, lacks := can.Describe()
	return report.Report{Machine: machine, Server: report.Server{Version: version, Capabilities: has, Missing: lacks}}, nil
}

func readMachine(ctx context.Context) (report.Machine, error) {
	m := report.Machine{OS: runtime.GOOS + "/" + runtime.GOARCH, Cores: runtime.NumCPU(), Go: runtime.Version()}
	memory, err := mem.VirtualMemoryWithContext(ctx)
	if err != nil {
		return m, fmt.Errorf("read the size of the memory: %w", err)
	}
	m.Memory = memory.Total
	if platform, _, version, err := host.PlatformInformationWithContext(ctx); err == nil && platform != "" { // else the kind of system has to do
		m.OS += " (" + strings.TrimSpace(platform+" "+version) + ")"
	}
	m.CPU = "unknown processor"
	if processors, err := cpu.InfoWithContext(ctx); err == nil && len(processors) > 0 && processors[0].ModelName != "" {
		m.CPU = strings.TrimSpace(processors[0].ModelName)
	}
	return m, nil
}

// readVersion is what the server says that it is. What speaks MongoDB's protocol without being MongoDB says so in
// fields of its own, which are looked for.
func readVersion(ctx context.Context, db *mongo.Database) (string, error) {
	var build struct {
		Version  string `bson:"version"`
		Secantus string `bson:"secantusVersion"`
	}
	if err := db.RunCommand(ctx, bson.D{{Key: "buildInfo", Value: 1}}).Decode(&build); err != nil {
		return "", fmt.Errorf("ask the database for its version: %w", err)
	}
	var status struct {
		FerretDB struct {
			Version    string `bson:"version"`
			PostgreSQL string `bson:"postgresql"`
			DocumentDB string `bson:"documentdb"`
		} `bson:"ferretdb"`
	}
	// Users without the right to ask it are told of the version that the server speaks.
	_ = db.RunCommand(ctx, bson.D{{Key: "serverStatus", Value: 1}}).Decode(&status)
	switch ferret := status.FerretDB; {
	case ferret.Version != "":
		return fmt.Sprintf("FerretDB %s over DocumentDB %s and %s", ferret.Version, firstWord(ferret.DocumentDB),
			cutAt(ferret.PostgreSQL, " on ")), nil
	case build.Secantus != "":
		return fmt.Sprintf("SecantusDB %s, which speaks MongoDB %s", build.Secantus, build.Version), nil
	default:
		return "MongoDB " + build.Version, nil
	}
}

func firstWord(text string) string { return cutAt(text, " ") }

func cutAt(text, sep string) string {
	before, _, _ := strings.Cut(text, sep)
	return before
}
