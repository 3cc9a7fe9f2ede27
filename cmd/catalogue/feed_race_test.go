package main

import (
	"context"
	"encoding/json"
	"encoding/xml"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"catalogue/feed/race"
	"catalogue/internal/mongotest"
)

// raceBeside runs a race beside a database of the test. No database is left of it.
func raceBeside(t *testing.T, args ...string) outcome {
	t.Helper()
	mongotest.Needs(t, mongotest.Transactions)
	db := mongotest.Database(t)
	o := runProgram(t.Context(), importEnviron(db, mongotest.URI(t)), append([]string{"feed", "race"}, args...)...)
	requireNoRaceLeft(t, db)
	return o
}

func requireNoRaceLeft(t *testing.T, own *mongo.Database) {
	t.Helper()
	left, err := own.Client().ListDatabaseNames(t.Context(), racesBeside(own))
	require.NoError(t, err)
	require.Empty(t, left)
}

func racesBeside(own *mongo.Database) bson.D {
	return bson.D{{Key: "name", Value: bson.Regex{Pattern: "^" + own.Name() + "_race_"}}}
}

func TestFeedRaceCommand(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "new", "folder")
	o := raceBeside(t, "--duration", "2s", "--slow-share", "0.05", "--slow-time", "300ms", "--out", folder)
	require.Equal(t, exitOK, o.code, "%s\n%s", o.stdout, o.stderr)
	require.Contains(t, o.stderr, "which is dropped at the end")
	require.Regexp(t, `(?m)^\s+ordering +none +watermark$`, o.stdout)
	require.Regexp(t, `(?m)^\s+rows lost +[1-9]\d* +0$`, o.stdout)
	require.Contains(t, o.stdout, "lost with none:\n")

	path := filepath.Join(folder, racePicture)
	require.True(t, strings.HasSuffix(o.stdout, "The picture is "+path+"\n"), o.stdout)
	picture, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, xml.Unmarshal(picture, new(struct{})))
}

func TestFeedRaceCommandShowsWhatIsSlowerThanTheDelay(t *testing.T) {
	t.Parallel()
	o := raceBeside(t, "--duration", "2s", "--slow-share", "0.05", "--slow-time", "800ms", "--delay", "200ms",
		"--format", "json", "--writers", "6", "--out", t.TempDir())
	require.Equal(t, exitOK, o.code, "%s\n%s", o.stdout, o.stderr)
	var report race.Report
	require.NoError(t, json.Unmarshal([]byte(o.stdout), &report))
	require.FileExists(t, report.Picture)
	require.Equal(t, 6, report.Writers)
	watermark := report.Orderings[1]
	require.Equal(t, "watermark", watermark.Ordering)
	require.Positive(t, watermark.LostSlower)
	require.Zero(t, watermark.LostWithin)
	require.Len(t, watermark.LostRows, watermark.Lost)
}

// Ctrl-C comes at the line that tells of the database: it is dropped all the same.
func TestFeedRaceCommandIsInterrupted(t *testing.T) {
	t.Parallel()
	db := mongotest.Database(t)
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	var stdout strings.Builder
	stderr := &interrupting{interrupt: interrupt}
	code := run(ctx, []string{"feed", "race"}, importEnviron(db, mongotest.URI(t)), &stdout, stderr)
	require.Equal(t, exitInterrupted, code, stderr.String())
	require.Contains(t, stderr.String(), "interrupted: nothing is compared")
	require.Empty(t, stdout.String())
	requireNoRaceLeft(t, db)
}

// Ctrl-C comes in the middle of the writing: no write is left on the way that would make the database anew.
func TestFeedRaceCommandIsInterruptedAmongWrites(t *testing.T) {
	t.Parallel()
	mongotest.Needs(t, mongotest.Transactions)
	db := mongotest.Database(t)
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	var stdout strings.Builder
	stderr := &interrupting{interrupt: sync.OnceFunc(func() {
		go func() {
			defer interrupt()
			for ctx.Err() == nil && rowsOfRace(ctx, db) < 20 {
				runtime.Gosched()
			}
		}()
	})}
	args := []string{"feed", "race", "--slow-share", "0.1"}
	code := run(ctx, args, importEnviron(db, mongotest.URI(t)), &stdout, stderr)
	require.Equal(t, exitInterrupted, code, stderr.String())
	requireNoRaceLeft(t, db)
}

// rowsOfRace counts what the race beside a database has written so far.
func rowsOfRace(ctx context.Context, own *mongo.Database) (rows int64) {
	names, err := own.Client().ListDatabaseNames(ctx, racesBeside(own))
	if err != nil {
		return 0
	}
	for _, name := range names {
		n, err := own.Client().Database(name).Collection("creatives").CountDocuments(ctx, bson.D{})
		if err != nil {
			return 0
		}
		rows += n
	}
	return rows
}

func TestUseOfTheFeedRaceCommand(t *testing.T) {
	t.Parallel()
	for args, reason := range map[string]string{
		"--writers 0 --slow-share 2": "writers must be from 1 to 64\nslow-share must be from 0 to 1",
		"--format xml":               "format must be table or json",
		"--duration 1h":              "duration must be from 100ms to 10m0s",
		"now":                        `unknown command "now"`,
	} {
		o := runProgram(t.Context(), nil, append([]string{"feed", "race"}, strings.Fields(args)...)...)
		require.Equal(t, exitUsage, o.code, o.stderr)
		require.Contains(t, o.stderr, reason)
	}
}

// There is no database behind the program: what is wrong with the picture is told before the race.
func TestFeedRaceIsNotRunForAPictureThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(folder, racePicture), 0o700))
	for out, reason := range map[string]string{
		file(t, "no folder", ""): "not a directory",
		folder:                   "the picture cannot be written: open " + filepath.Join(folder, racePicture),
	} {
		o := runProgram(t.Context(), nil, "feed", "race", "--out", out)
		require.Equal(t, exitFailure, o.code)
		require.Contains(t, o.stderr, reason)
	}
}

func TestTheCheckOfARacesPictureLeavesNoTrace(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "made")
	require.NoError(t, checkRacePicture(folder))
	names, err := os.ReadDir(folder)
	require.NoError(t, err)
	require.Empty(t, names)

	path := filepath.Join(folder, racePicture)
	require.NoError(t, os.WriteFile(path, []byte("of an earlier race"), 0o600))
	require.NoError(t, checkRacePicture(folder))
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "of an earlier race", string(content))
}

// The folder goes while the race runs: its result is shown all the same.
func TestARaceWithoutItsPictureIsShown(t *testing.T) {
	t.Parallel()
	result := race.Result{Plan: race.Plan{Writers: 3, Delay: time.Second}, Outcomes: []race.Outcome{{Ordering: "none"}}}
	for format, want := range map[string]string{formatTable: "0 writes by 3 writers in ", formatJSON: `"writers": 3,`} {
		var stdout strings.Builder
		err := (&app{stdout: &stdout}).showRace(result, raceJob{format: format, out: filepath.Join(t.TempDir(), "gone")})
		require.ErrorContains(t, err, "the race has no picture: open ")
		require.Contains(t, stdout.String(), want)
		require.NotContains(t, stdout.String(), racePicture)
	}
}

// What another race has left is named with what drops it, and stays: that race may be running.
func TestFeedRaceNamesWhatOthersLeft(t *testing.T) {
	t.Parallel()
	mongotest.Needs(t, mongotest.Transactions)
	db := mongotest.Database(t)
	for _, name := range []string{"_race_0123456789ab", "_race_results", "x_race_0123456789ab"} {
		other := db.Client().Database(db.Name() + name)
		t.Cleanup(func() { require.NoError(t, other.Drop(context.Background())) })
		plant(t, other, "creatives", bson.D{{Key: "name", Value: "kept"}})
	}
	var stderr strings.Builder
	require.NoError(t, (&app{stderr: &stderr}).nameRacesLeft(t.Context(), db))
	require.Equal(t, "databases of other races are there. If none is running, drop what was left behind:\n"+
		`  mongosh "$CATALOGUE_MONGODB_URI" --eval 'db.getSiblingDB("`+db.Name()+`_race_0123456789ab").dropDatabase()'`+"\n",
		stderr.String())

	left := db.Client().Database(db.Name() + "_race_0123456789ab")
	o := runProgram(t.Context(), importEnviron(db, mongotest.URI(t)), "feed", "race", "--duration", "100ms",
		"--out", t.TempDir())
	require.Equal(t, exitOK, o.code, o.stderr)
	require.Contains(t, o.stderr, left.Name())
	n, err := left.Collection("creatives").CountDocuments(t.Context(), bson.D{})
	require.NoError(t, err)
	require.EqualValues(t, 1, n)
}

func TestRaceDatabaseIsNeverTheCatalogues(t *testing.T) {
	t.Parallel()
	name, err := raceDatabase("catalogue", "a1")
	require.NoError(t, err)
	require.Equal(t, "catalogue_race_a1", name)
	for _, wrong := range [][2]string{{"", "a1"}, {"catalogue", ""}, {strings.Repeat("x", 60), "a1"}} {
		_, err := raceDatabase(wrong[0], wrong[1])
		require.Error(t, err)
	}
}

// What stands in the database already is somebody else's.
func TestRaceRefusesADatabaseThatExists(t *testing.T) {
	t.Parallel()
	db := mongotest.Database(t)
	require.NoError(t, mustBeEmpty(t.Context(), db))
	plant(t, db, "creatives", bson.D{{Key: "name", Value: "kept"}})
	require.ErrorContains(t, mustBeEmpty(t.Context(), db), "exists already")
}
