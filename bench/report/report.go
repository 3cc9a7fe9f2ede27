// Package report holds the result of a benchmark run as values, and writes them as JSON, as charts and as the page
// docs/performance.md.
package report

import "time"

// Report is one run. What it was is told by its values alone: no writer adds figures of its own.
type Report struct {
	Began    time.Time     `json:"began"`
	Took     time.Duration `json:"took_ns"`
	Command  string        `json:"command"` // that repeats the run
	Machine  Machine       `json:"machine"`
	Server   Server        `json:"server"`
	Rows     []int         `json:"rows"`
	Sections []Section     `json:"sections"` // in the order of the page
	Failures []Failure     `json:"failures,omitempty"`
}

// Failure is a group of benchmarks that gave no section.
type Failure struct {
	ID    string `json:"id"` // of the section that is missing
	Error string `json:"error"`
}

// Machine is where the run took place.
type Machine struct {
	OS     string `json:"os"`
	CPU    string `json:"cpu"`
	Cores  int    `json:"cores"`
	Memory uint64 `json:"memory_bytes"`
	Go     string `json:"go"`
}

// Server is the database under test, as it describes itself.
type Server struct {
	Version      string   `json:"version"`
	Capabilities []string `json:"capabilities"` // what it can do, in words
	Missing      []string `json:"missing"`      // what it cannot do
}

// Section is the result of one group of benchmarks.
type Section struct {
	ID           string        `json:"id"` // depth, peers, …
	Title        string        `json:"title"`
	Text         string        `json:"text"` // what was measured and how, in Markdown
	Measurements []Measurement `json:"measurements"`
	Tables       []Table       `json:"tables"`
	Charts       []Chart       `json:"charts"`
	Goals        []Goal        `json:"goals"`
}

// Measurement is one thing that was timed. Times are milliseconds.
type Measurement struct {
	Name   string            `json:"name"`
	Labels map[string]string `json:"labels,omitempty"` // rows, depth, sort, …
	Count  int               `json:"count"`            // samples
	P50    Interval          `json:"p50_ms"`
	P95    Interval          `json:"p95_ms"`
	P99    Interval          `json:"p99_ms"`
}

// Table is shown on the page.
type Table struct {
	Title   string     `json:"title"`
	Columns []string   `json:"columns"`
	Rows    [][]string `json:"rows"`
}

// Chart is drawn into a file beside the page.
type Chart struct {
	File   string   `json:"file"` // name without folder, ends in .svg
	Title  string   `json:"title"`
	X      string   `json:"x"` // label of the axis
	Y      string   `json:"y"`
	LogX   bool     `json:"log_x"`
	LogY   bool     `json:"log_y"`
	Series []Series `json:"series"`
}

// Series is one line of a chart.
type Series struct {
	Name   string  `json:"name"`
	Points []Point `json:"points"`
}
