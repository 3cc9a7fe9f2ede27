package report

import (
	"bytes"
	"fmt"
	"image/color"
	"io"
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

const (
	pixel       = vg.Length(0.75) // in points, as browsers have it
	chartWidth  = 720 * pixel
	chartHeight = 420 * pixel
	margin      = 10 * pixel
	headroom    = 1.05 // of a linear axis above its highest value
	gridGray    = 225
)

// colors are those of Okabe and Ito, which people who do not see all colours tell apart, too.
var colors = [...]color.RGBA{
	{0, 114, 178, 255},
	{213, 94, 0, 255},
	{0, 158, 115, 255},
	{204, 121, 167, 255},
	{230, 159, 0, 255},
	{86, 180, 233, 255},
	{60, 60, 60, 255},
}

// markers go with the colors; their number is another, so that few combinations come again.
var markers = [...]draw.GlyphDrawer{
	draw.CircleGlyph{},
	draw.BoxGlyph{},
	draw.PyramidGlyph{},
	draw.CrossGlyph{},
	draw.RingGlyph{},
	draw.SquareGlyph{},
	draw.TriangleGlyph{},
	draw.PlusGlyph{},
}

// WriteSVG draws the chart, on white, since the page may be shown on any ground. Points that a logarithmic axis has no
// place for are left out, and so are ends of intervals that are infinite.
func (c Chart) WriteSVG(out io.Writer) error {
	p, err := c.plot()
	if err != nil {
		return fmt.Errorf("draw %s: %w", c.File, err)
	}
	canvas := vgsvg.New(chartWidth, chartHeight)
	drawOn(canvas, p)
	var svg bytes.Buffer
	if _, err := canvas.WriteTo(&svg); err != nil {
		return fmt.Errorf("draw %s: %w", c.File, err)
	}
	_, err = out.Write(withFonts(svg.Bytes()))
	return err
}

func (c Chart) plot() (*plot.Plot, error) {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = c.Title, c.X, c.Y
	p.Title.Padding = margin
	useSans(&p.Title.TextStyle, &p.X.Label.TextStyle, &p.Y.Label.TextStyle, &p.X.Tick.Label, &p.Y.Tick.Label, &p.Legend.TextStyle)
	grid := plotter.NewGrid()
	grid.Vertical.Color, grid.Horizontal.Color = color.Gray{Y: gridGray}, color.Gray{Y: gridGray}
	p.Add(grid)
	for i, s := range c.Series {
		if err := c.add(p, s, i); err != nil {
			return nil, fmt.Errorf("series %s: %w", s.Name, err)
		}
	}
	scale(&p.X, c.LogX)
	scale(&p.Y, c.LogY)
	if !c.LogY {
		p.Y.Min = min(p.Y.Min, 0)
		p.Y.Max *= headroom
	}
	return p, nil
}

// drawOn draws the plot with its legend beside it, where it hides nothing.
func drawOn(canvas vg.CanvasSizer, p *plot.Plot) {
	area := draw.New(canvas)
	area.SetColor(color.White)
	area.Fill(area.Path())
	area = draw.Crop(area, margin, -margin, margin, -margin)
	legend := p.Legend
	legend.Top, legend.Padding, p.Legend = true, margin/2, plot.NewLegend()
	width := legend.Rectangle(area).Size().X
	if width > 0 {
		width += margin
	}
	p.Draw(draw.Crop(area, 0, -width, 0, 0))
	legend.Draw(area)
}

// withFonts lets browsers without the plot's font take another one without serifs.
func withFonts(svg []byte) []byte {
	return bytes.ReplaceAll(svg, []byte("font-family:Liberation Sans;"),
		[]byte("font-family:'Liberation Sans',Arial,Helvetica,sans-serif;"))
}

func useSans(styles ...*text.Style) {
	for _, s := range styles {
		s.Font = font.Font{Typeface: "Liberation", Variant: "Sans", Size: s.Font.Size}
	}
}

// add draws a series as a line with markers and error bars.
func (c Chart) add(p *plot.Plot, s Series, i int) error {
	var points plotter.XYs
	bars := errorBars{}
	for _, at := range s.Points {
		if !c.drawable(at) {
			continue
		}
		points = append(points, plotter.XY{X: at.X, Y: at.Y})
		if low, high := c.reach(at); low > 0 || high > 0 {
			bars.XYs = append(bars.XYs, plotter.XY{X: at.X, Y: at.Y})
			bars.YErrors = append(bars.YErrors, struct{ Low, High float64 }{low, high})
		}
	}
	if len(points) == 0 {
		return nil
	}
	line, marks, err := plotter.NewLinePoints(points)
	if err != nil {
		return err
	}
	line.Color, line.Width = colors[i%len(colors)], 2*pixel
	marks.Color, marks.Shape, marks.Radius = colors[i%len(colors)], markers[i%len(markers)], 4*pixel
	if len(bars.XYs) > 0 {
		whiskers, err := plotter.NewYErrorBars(bars)
		if err != nil {
			return err
		}
		whiskers.Color = colors[i%len(colors)]
		p.Add(whiskers)
	}
	p.Add(line, marks)
	if s.Name != "" {
		p.Legend.Add(s.Name, line, marks)
	}
	return nil
}

// errorBars are points with what lies below and above them.
type errorBars struct {
	plotter.XYs
	plotter.YErrors
}

func (c Chart) drawable(p Point) bool {
	return finite(p.X) != nil && finite(p.Y) != nil && (!c.LogX || p.X > 0) && (!c.LogY || p.Y > 0)
}

// reach is how far the interval of a point goes below and above it.
func (c Chart) reach(p Point) (low, high float64) {
	if finite(p.Low) != nil && (!c.LogY || p.Low > 0) {
		low = max(p.Y-p.Low, 0)
	}
	if finite(p.High) != nil {
		high = max(p.High-p.Y, 0)
	}
	return low, high
}

// scale gives an axis its ticks. A logarithmic one goes from power of ten to power of ten; one without points to 1.
func scale(a *plot.Axis, log bool) {
	empty := a.Min > a.Max
	switch {
	case !log:
		if empty {
			a.Min, a.Max = 0, 1
		}
		a.Tick.Marker = plainTicks{plot.DefaultTicks{}}
	default:
		if empty {
			a.Min, a.Max = 1, 10
		}
		a.Min = math.Pow(10, math.Floor(math.Log10(a.Min)))
		a.Max = max(math.Pow(10, math.Ceil(math.Log10(a.Max))), 10*a.Min)
		a.Scale, a.Tick.Marker = plot.LogScale{}, plainTicks{plot.LogTicks{Prec: 6}}
	}
}

// plainTicks writes 1000000 where others write 1e+06.
type plainTicks struct{ plot.Ticker }

// Ticks implements plot.Ticker.
func (t plainTicks) Ticks(low, high float64) []plot.Tick {
	ticks := t.Ticker.Ticks(low, high)
	for i, tick := range ticks {
		if x, err := strconv.ParseFloat(tick.Label, 64); err == nil && strings.Contains(tick.Label, "e") {
			ticks[i].Label = strconv.FormatFloat(x, 'f', -1, 64)
		}
	}
	return ticks
}
