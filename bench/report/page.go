package report

import (
	_ "embed"
	"fmt"
	"io"
	"path"
	"regexp"
	"strconv"
	"strings"
	"text/template"
	"time"
)

//go:embed page.md.tmpl
var pageTemplate string

// manyLines are empty lines that Markdown takes for one, and what stands at the ends of lines.
var (
	manyLines = regexp.MustCompile(`\n{3,}`)
	lineEnds  = regexp.MustCompile(`[ \t]+\n`)
)

// WritePage writes the page in Markdown. charts is the folder of the charts as the page's links have it, "." or
// "performance". Equal reports give equal pages.
func (r Report) WritePage(out io.Writer, charts string) error {
	page, err := template.New("page").Funcs(template.FuncMap{
		"cell":    cell,
		"count":   count,
		"link":    func(file string) string { return path.Join(charts, file) },
		"memory":  func(bytes uint64) string { return figure(float64(bytes)/(1<<30)) + " GiB" },
		"minutes": func(d time.Duration) string { return d.Round(time.Second).String() },
		"result":  result,
		"when":    func(t time.Time) string { return t.UTC().Format("2 January 2006, 15:04 UTC") },
	}).Parse(pageTemplate)
	if err != nil {
		return fmt.Errorf("read the template of the page: %w", err)
	}
	var text strings.Builder
	if err := page.Execute(&text, r); err != nil {
		return fmt.Errorf("write the page: %w", err)
	}
	tidy := manyLines.ReplaceAllString(lineEnds.ReplaceAllString(text.String(), "\n"), "\n\n")
	_, err = io.WriteString(out, strings.TrimSpace(tidy)+"\n")
	return err
}

// cell is text that cannot end its cell of a table.
func cell(text string) string { return strings.ReplaceAll(oneLine(text), "|", `\|`) }

// result makes a miss easy to see.
func result(g Goal) string {
	if g.Result() == "not met" {
		return "**not met**"
	}
	return g.Result()
}

// count writes a number with its thousands apart: 1,000,000.
func count(n int) string {
	digits := strconv.Itoa(n)
	for at := len(digits) - 3; at > 0; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return digits
}
