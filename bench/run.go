package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"catalogue/bench/groups"
	"catalogue/bench/report"
	"catalogue/internal/mongodb"
)

const (
	appName = "catalogue-bench"
	// probeDatabase is where the server shows what it can do. It is dropped afterwards.
	probeDatabase = "bench_probe"
	dropTimeout   = 10 * time.Second
	folderMode    = 0o755
)

// run measures and writes the page. Results are stored after each group, so that a run which is broken off leaves what
// it has. A group that fails does not stop the others; the end of ctx does.
func (a *app) run(ctx context.Context, s settings) (err error) {
	if _, err := exec.LookPath(s.binary); err != nil {
		return fmt.Errorf("the catalogue is not built: %w; make build does it", err)
	}
	if err := os.MkdirAll(s.output, folderMode); err != nil { // of results, readable like others
		return fmt.Errorf("make the folder of results: %w", err)
	}
	client, err := mongodb.Connect(ctx, mongodb.Options{URI: s.uri, Database: probeDatabase, AppName: appName})
	if err != nil {
		return fmt.Errorf("no MongoDB answers at %s: %s", mongodb.Mask(s.uri), mongodb.Reason(err))
	}
	defer func() { err = errors.Join(err, client.Disconnect(ctx)) }()
	can, err := probe(ctx, client)
	if err != nil {
		return fmt.Errorf("find out what the database can do: %w", err)
	}
	r, err := describe(ctx, client.Database(), can)
	if err != nil {
		return err
	}
	r.Began, r.Command, r.Rows = time.Now(), s.command, s.rows

	shown := newProgress(a.stderr, len(s.groups))
	shared := newShared(client.Database().Client(), s, shown)
	err = measureAll(ctx, &r, s, shared.env(can), shown)
	shown.finish()
	closed := shared.close()
	if err != nil {
		return errors.Join(err, closed)
	}
	return errors.Join(a.conclude(r, s), closed)
}

func probe(ctx context.Context, client *mongodb.Client) (mongodb.Capabilities, error) {
	can, err := mongodb.Probe(ctx, client.Database())
	dropping, cancel := context.WithTimeout(context.WithoutCancel(ctx), dropTimeout)
	defer cancel()
	return can, errors.Join(err, client.Database().Drop(dropping))
}

// measureAll runs the groups one after the other. Its error is one that ends the run.
func measureAll(ctx context.Context, r *report.Report, s settings, env *groups.Env, shown *progress) error {
	for i, g := range s.groups {
		shown.begin(i, g)
		section, err := g.Run(ctx, env)
		switch {
		case ctx.Err() != nil:
			return brokenOff(ctx, *r, g, s)
		case err != nil:
			r.Failures = append(r.Failures, report.Failure{ID: g.ID, Error: err.Error()})
			shown.say(fmt.Sprintf("%s failed: %v", g.ID, err))
		default:
			r.Sections = append(r.Sections, section)
		}
		r.Took = time.Since(r.Began)
		if err := workFolder(s).WriteResults(*r); err != nil {
			return err
		}
	}
	return nil
}

// brokenOff tells where the results are that there are already.
func brokenOff(ctx context.Context, r report.Report, g groups.Group, s settings) error {
	err := fmt.Errorf("broken off in %s: %w", g.ID, context.Cause(ctx))
	if len(r.Sections) > 0 {
		err = fmt.Errorf("%w; %s has what was measured before", err, workFolder(s).Results())
	}
	return err
}

// workFolder takes everything but a page of the documentation.
func workFolder(s settings) report.Folder { return report.Folder{Path: s.output, Charts: "."} }

// conclude writes the page and tells the goals. The documentation does not get the page of a run with failures.
func (a *app) conclude(r report.Report, s settings) error {
	folder := workFolder(s)
	if s.docs != "" && len(r.Failures) == 0 {
		folder = report.Folder{Path: s.docs, Charts: chartsFolder}
	}
	if err := a.publish(r, folder); err != nil {
		return err
	}
	if len(r.Failures) == 0 {
		return nil
	}
	failed := make([]string, len(r.Failures))
	for i, f := range r.Failures {
		failed[i] = f.ID + ": " + f.Error
	}
	return fmt.Errorf("%d of %d groups failed:\n%s", len(failed), len(s.groups), strings.Join(failed, "\n"))
}

func (a *app) publish(r report.Report, folder report.Folder) error {
	if err := folder.Write(r); err != nil {
		return err
	}
	if err := r.WriteGoals(a.stdout); err != nil {
		return err
	}
	_, err := fmt.Fprintf(a.stdout, "\nThe page: %s\n", folder.Page())
	return err
}
