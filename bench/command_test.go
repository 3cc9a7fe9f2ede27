package main

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"catalogue/bench/groups"
)

func TestRows(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]int{
		"10k": {10_000}, "10000": {10_000}, "1m,10K, 100k,10000": {10_000, 100_000, 1_000_000}, "1": {1}, "1000m": {maxRows},
	} {
		got, err := parseRows(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
	}
	for _, text := range []string{"", "0", "-1", "10g", "k", "10k,", "1.5k", "1001m", "9223372036854775807k"} {
		_, err := parseRows(text)
		require.ErrorContains(t, err, "--rows", text)
	}
}

func TestWrongFlags(t *testing.T) {
	t.Parallel()
	for want, args := range map[string][]string{
		`there is no group "x"; there are first, last`: {"--uri", "mongodb://x", "--groups", "first,x"},
		"give --uri":                 {},
		"--rows":                     {"--uri", "mongodb://x", "--rows", "many"},
		"--seconds":                  {"--uri", "mongodb://x", "--seconds", "0"},
		"leave --groups out":         {"--uri", "mongodb://x", "--docs", "x", "--groups", "first"},
		"the catalogue is not built": {"--uri", "mongodb://x", "--binary", "/nowhere/catalogue"},
		"unknown flag":               {"--nonsense"},
		"unknown command":            {"nonsense"},
	} {
		b := newBench(t, constant("first"), constant("last"))
		require.Equal(t, 1, b.execute(t.Context(), args))
		require.Contains(t, b.stderr.String(), want)
	}
}

// Addresses come from the environment, and their credentials stay out of the help.
func TestAddressesOfTheEnvironment(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.getenv = func(name string) string {
		return map[string]string{"CATALOGUE_MONGODB_URI": "mongodb://me:secret@x", "CATALOGUE_TEST_REDIS_URL": "redis://:secret@x"}[name]
	}
	command := b.newCommand()
	uri, err := command.Flags().GetString("uri")
	require.NoError(t, err)
	require.Equal(t, "mongodb://me:secret@x", uri)
	redisURL, err := command.Flags().GetString("redis-url")
	require.NoError(t, err)
	require.Equal(t, "redis://:secret@x", redisURL)
	require.Equal(t, 0, b.execute(t.Context(), []string{"--help"}))
	require.Contains(t, b.stdout.String(), "--redis-url")
	require.NotContains(t, b.stdout.String(), "secret")
}

func TestTheCommandThatRepeatsARun(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.getenv = func(name string) string { return map[string]string{"ENGINE": "documentdb"}[name] }
	flags := b.newCommand().Flags()
	require.NoError(t, flags.Parse([]string{"--uri", "mongodb://me:secret@x", "--binary", "x", "--seconds", "5", "--rows", "10k,1m", "--docs", "docs"}))
	require.Equal(t, "make bench ENGINE=documentdb BENCH_FLAGS='--docs docs --rows 10k,1m --seconds 5'", b.repeat(flags))
}

func TestLinesOfProgress(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	p := newProgress(&out, 2)
	now := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	p.now = func() time.Time { return now }
	p.begin(0, groups.Group{ID: "depth", Title: "Cost at depth"})
	p.at(1, 4)
	now = now.Add(progressLine)
	p.at(2, 4)
	p.loading(10, 40)
	now = now.Add(progressLine)
	p.loading(20, 40)
	p.begin(1, groups.Group{ID: "load", Title: "Load"})
	now = now.Add(progressLine)
	p.at(0, 0)
	p.say("load failed: x")
	p.finish()
	require.Equal(t, `1/2 depth: Cost at depth
1/2 depth: 50 %
1/2 depth: 50 % of 40 creatives are ready
2/2 load: Load
2/2 load: 0 %
load failed: x
`, out.String())
}

func TestABarOfProgress(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	p := newProgress(&out, 2)
	p.bar = newBar(&out, 2)
	p.begin(0, groups.Group{ID: "depth"})
	p.at(1, 2)
	require.InDelta(t, 0.25, p.bar.State().CurrentPercent, 1e-9)
	p.loading(1, 2)
	p.begin(1, groups.Group{ID: "load"})
	require.InDelta(t, 0.5, p.bar.State().CurrentPercent, 1e-9)
	p.at(7, 2)
	require.InDelta(t, 1, p.bar.State().CurrentPercent, 1e-9)
	p.finish()
	require.Contains(t, out.String(), "1/2 depth")
}
