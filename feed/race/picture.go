package race

import (
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"strings"
	"time"
)

// The sizes of a picture, in pixels.
const (
	pictureWidth = 960
	headHeight   = 20  // of the legend
	panelHeight  = 240 // of one ordering
	panelGap     = 70  // above each, for its title
	marginLeft   = 80
	marginRight  = 20
	marginBottom = 50
	crossArm     = 4
	timeTicks    = 5
)

const (
	// leastMillis is where the scale of lateness begins. It is logarithmic: a quick write takes a few milliseconds and
	// a slow one a thousand.
	leastMillis = 1.0
	decade      = 10.0
)

type svgDocument struct {
	XMLName xml.Name `xml:"http://www.w3.org/2000/svg svg"`
	Width   int      `xml:"width,attr"`
	Height  int      `xml:"height,attr"`
	ViewBox string   `xml:"viewBox,attr"`
	Font    string   `xml:"font-family,attr"`
	Size    int      `xml:"font-size,attr"`
	Shapes  []any
}

type svgRect struct {
	XMLName xml.Name `xml:"rect"`
	X       int      `xml:"x,attr"`
	Y       int      `xml:"y,attr"`
	Width   int      `xml:"width,attr"`
	Height  int      `xml:"height,attr"`
	Fill    string   `xml:"fill,attr"`
}

type svgPath struct {
	XMLName xml.Name `xml:"path"`
	Class   string   `xml:"class,attr"` // what it shows, for whoever looks at the source
	D       string   `xml:"d,attr"`
	Stroke  string   `xml:"stroke,attr"`
	Width   float64  `xml:"stroke-width,attr"`
	Dashes  string   `xml:"stroke-dasharray,attr,omitempty"`
	Fill    string   `xml:"fill,attr"`
}

type svgText struct {
	XMLName xml.Name `xml:"text"`
	X       int      `xml:"x,attr"`
	Y       int      `xml:"y,attr"`
	Anchor  string   `xml:"text-anchor,attr"`
	Fill    string   `xml:"fill,attr"`
	Text    string   `xml:",chardata"`
}

// Picture writes the result as SVG: a panel an ordering, in which each write stands at the moment of its
// acknowledgement with how late it was; a line is the delay, and a cross is a lost write.
func (r Result) Picture(out io.Writer) error {
	height := headHeight + len(r.Outcomes)*(panelGap+panelHeight) + marginBottom
	doc := svgDocument{
		Width: pictureWidth, Height: height, ViewBox: fmt.Sprintf("0 0 %d %d", pictureWidth, height),
		Font: "sans-serif", Size: 13,
		Shapes: []any{
			svgRect{Width: pictureWidth, Height: height, Fill: "white"},
			svgText{
				X: marginLeft, Y: headHeight, Anchor: "start", Fill: "grey",
				Text: "How long after its stamp each write was acknowledged, on a logarithmic scale. Red crosses are lost rows.",
			},
		},
	}
	scales := r.scales()
	for i, o := range r.Outcomes {
		p := panel{scales: scales, top: headHeight + i*(panelGap+panelHeight) + panelGap}
		p.frame(o, r.Plan.Delay)
		p.writes(r.Writes, o.Lost)
		doc.Shapes = append(doc.Shapes, p.shapes...)
	}
	doc.Shapes = append(doc.Shapes, svgText{
		X: (marginLeft + pictureWidth - marginRight) / 2, Y: height - 10, Anchor: "middle", Fill: "black",
		Text: "seconds since the first acknowledgement",
	})
	if _, err := io.WriteString(out, xml.Header); err != nil {
		return err
	}
	encoder := xml.NewEncoder(out)
	if err := encoder.Encode(doc); err != nil {
		return fmt.Errorf("draw the picture: %w", err)
	}
	return encoder.Close()
}

// scales turn moments and lateness into pixels, alike for all panels.
type scales struct {
	first   time.Time     // the left edge
	span    time.Duration // to the right edge
	decades float64       // of lateness, from leastMillis to the upper edge
}

func (r Result) scales() scales {
	var first, last time.Time
	most := r.Plan.Delay
	for _, w := range r.Writes {
		if first.IsZero() || w.Acked.Before(first) {
			first = w.Acked
		}
		if w.Acked.After(last) {
			last = w.Acked
		}
		most = max(most, w.Late)
	}
	return scales{
		first: first, span: max(last.Sub(first), time.Second),
		decades: math.Ceil(math.Log10(millis(most) / leastMillis)),
	}
}

func (s scales) x(at time.Time) int {
	return marginLeft + int(float64(pictureWidth-marginLeft-marginRight)*at.Sub(s.first).Seconds()/s.span.Seconds())
}

// y is in pixels below the panel's top.
func (s scales) y(lateMillis float64) int {
	share := math.Log10(max(lateMillis, leastMillis)/leastMillis) / s.decades
	return panelHeight - int(share*panelHeight)
}

// panel collects the shapes of one ordering.
type panel struct {
	scales
	top    int
	shapes []any
}

func (p *panel) text(x, y int, anchor, fill, text string) {
	p.shapes = append(p.shapes, svgText{X: x, Y: y, Anchor: anchor, Fill: fill, Text: text})
}

func (p *panel) path(class, d, stroke string, width float64, dashes string) {
	p.shapes = append(p.shapes,
		svgPath{Class: class, D: d, Stroke: stroke, Width: width, Dashes: dashes, Fill: "none"})
}

// frame draws the title, the scales and the line of the delay.
func (p *panel) frame(o Outcome, delay time.Duration) {
	p.text(marginLeft, p.top-32, "start", "black", fmt.Sprintf("%s: %d lost, %d of them within the delay",
		o.Ordering, len(o.Lost), o.Within))
	p.text(marginLeft, p.top-12, "start", "grey", fmt.Sprintf("visible after %.0f ms (p50), %.0f ms (p99)",
		millis(o.VisibleP50), millis(o.VisibleP99)))
	across := pictureWidth - marginLeft - marginRight
	for n := 0.0; n <= p.decades; n++ {
		late := leastMillis * math.Pow(decade, n)
		y := p.top + p.y(late)
		p.path("scale", fmt.Sprintf("M%d %dh%d", marginLeft, y, across), "lightgrey", 1, "")
		p.text(marginLeft-8, y+4, "end", "black", fmt.Sprintf("%.0f ms", late))
	}
	for n := range timeTicks + 1 {
		at := p.span * time.Duration(n) / timeTicks
		x := p.x(p.first.Add(at))
		p.path("scale", fmt.Sprintf("M%d %dv%d", x, p.top, panelHeight), "lightgrey", 1, "")
		p.text(x, p.top+panelHeight+18, "middle", "black", fmt.Sprintf("%.1f", at.Seconds()))
	}
	y := p.top + p.y(millis(delay))
	p.path("delay", fmt.Sprintf("M%d %dh%d", marginLeft, y, across), "darkorange", 2, "8 4")
	p.text(pictureWidth-marginRight, y-6, "end", "darkorange", "delay "+delay.String())
}

// writes draws a dot for each write, of those on one pixel a single one, and a cross for each that is lost.
func (p *panel) writes(all, lost []Write) {
	type pixel struct{ x, y int }
	drawn := map[pixel]bool{}
	var dots, crosses strings.Builder
	for _, w := range all {
		at := pixel{x: p.x(w.Acked), y: p.top + p.y(millis(w.Late))}
		if !drawn[at] {
			drawn[at] = true
			fmt.Fprintf(&dots, "M%d %dh2", at.x-1, at.y)
		}
	}
	for _, w := range lost {
		fmt.Fprintf(&crosses, "M%d %dl%d %dm0 %dl%d %d", p.x(w.Acked)-crossArm, p.top+p.y(millis(w.Late))-crossArm,
			2*crossArm, 2*crossArm, -2*crossArm, -2*crossArm, 2*crossArm)
	}
	p.path("writes", dots.String(), "steelblue", 2, "")
	if crosses.Len() > 0 {
		p.path("lost", crosses.String(), "red", 2, "")
	}
}
