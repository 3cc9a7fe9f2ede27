package report

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
)

// Interval is an estimate with its 95 % confidence interval. An end that the samples do not bound is infinite. A figure
// that was counted and not sampled has both ends at its value.
type Interval struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// String is the value with its interval, where it has one: 1.043 (1.021–1.066).
func (i Interval) String() string {
	if math.IsNaN(i.Value) || i.Low == i.Value && i.High == i.Value {
		return figure(i.Value)
	}
	return fmt.Sprintf("%s (%s–%s)", figure(i.Value), figure(i.Low), figure(i.High))
}

// figure writes four digits, or all of those before the point.
func figure(x float64) string {
	switch {
	case math.IsNaN(x):
		return "–"
	case math.IsInf(x, 1):
		return "∞"
	case math.IsInf(x, -1):
		return "-∞"
	case x == math.Trunc(x) && math.Abs(x) < 1e15, math.Abs(x) >= 1000:
		return strconv.FormatFloat(x, 'f', 0, 64)
	default:
		return strconv.FormatFloat(x, 'g', 4, 64)
	}
}

// Point is a place in a chart with its value's confidence interval; Low and High equal Y where there is none, and are
// infinite where the samples do not bound it.
type Point struct {
	X    float64 `json:"x"`
	Y    float64 `json:"y"`
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// storedInterval and storedPoint are the JSON, which has no infinity and no NaN: they are null.
type storedInterval struct {
	Value *float64 `json:"value"`
	Low   *float64 `json:"low"`
	High  *float64 `json:"high"`
}

type storedPoint struct {
	X    *float64 `json:"x"`
	Y    *float64 `json:"y"`
	Low  *float64 `json:"low"`
	High *float64 `json:"high"`
}

// MarshalJSON implements json.Marshaler.
func (i Interval) MarshalJSON() ([]byte, error) {
	return json.Marshal(storedInterval{finite(i.Value), finite(i.Low), finite(i.High)})
}

// UnmarshalJSON implements json.Unmarshaler.
func (i *Interval) UnmarshalJSON(b []byte) error {
	var s storedInterval
	if err := json.Unmarshal(b, &s); err != nil {
		return err
	}
	i.Value = orElse(s.Value, math.NaN())
	i.Low, i.High = orElse(s.Low, math.Inf(-1)), orElse(s.High, math.Inf(1))
	return nil
}

// MarshalJSON implements json.Marshaler.
func (p Point) MarshalJSON() ([]byte, error) {
	return json.Marshal(storedPoint{finite(p.X), finite(p.Y), finite(p.Low), finite(p.High)})
}

// UnmarshalJSON implements json.Unmarshaler.
func (p *Point) UnmarshalJSON(b []byte) error {
	var s storedPoint
	if err := json.Unmarshal(b, &s); err != nil {
		return err
	}
	p.X, p.Y = orElse(s.X, math.NaN()), orElse(s.Y, math.NaN())
	p.Low, p.High = orElse(s.Low, math.Inf(-1)), orElse(s.High, math.Inf(1))
	return nil
}

func finite(x float64) *float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return &x
}

func orElse(x *float64, otherwise float64) float64 {
	if x == nil {
		return otherwise
	}
	return *x
}
