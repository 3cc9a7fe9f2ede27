package querybuilder

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func benchDocument(rules int) []byte {
	many := []string{
		`{"id":"r-%d","field":"name","operator":"contains","valueSource":"value","value":"word %[1]d"}`,
		`{"id":"r-%d","field":"metrics.spend","operator":">=","valueSource":"value","value":"%[1]d"}`,
		`{"id":"r-%d","field":"status","operator":"in","valueSource":"value","value":"active,paused"}`,
		`{"id":"r-%d","field":"created_at","operator":"between","valueSource":"value","value":["2026-01-01","2026-03-%02[1]d"]}`,
	}
	parts := make([]string, 0, rules)
	for i := range rules {
		parts = append(parts, fmt.Sprintf(many[i%len(many)], i%28+1))
	}
	return []byte(`{"id":"g","combinator":"or","not":false,"rules":[` + strings.Join(parts, ",") + `]}`)
}

func BenchmarkDecodeAndCompile(b *testing.B) {
	for _, rules := range []int{1, 10, 100} {
		b.Run(strconv.Itoa(rules), func(b *testing.B) {
			schema, document := everyKind(), benchDocument(rules)
			b.ReportAllocs()
			b.SetBytes(int64(len(document)))
			for b.Loop() {
				filter, err := schema.Parse(document, time.UTC)
				require.NoError(b, err)
				_ = filter.Compile(now)
			}
		})
	}
}
