package main

import (
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEveryExampleOfTheFilterDocsWorks(t *testing.T) {
	t.Parallel()
	a := seeded(t, 30, 30)
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "filters.md"))
	require.NoError(t, err)
	rules := regexp.MustCompile("(?s)```json (creatives|tasks)\n(.*?)```").FindAllStringSubmatch(string(text), -1)
	require.Len(t, rules, 3)
	for _, rule := range rules {
		res := a.post(t, "/"+rule[1]+"/search", `{"filter":`+rule[2]+`}`)
		require.Equal(t, http.StatusOK, res.status, "%s\n%s", rule[2], res.body)
	}
	requests := regexp.MustCompile("(?s)```http\n(.*?)```").FindStringSubmatch(string(text))
	require.NotNil(t, requests)
	for line := range strings.Lines(requests[1]) {
		target, ok := strings.CutPrefix(strings.TrimSpace(line), "GET ")
		require.True(t, ok, line)
		res := a.get(t, target)
		require.Equal(t, http.StatusOK, res.status, "%s\n%s", line, res.body)
	}
}
