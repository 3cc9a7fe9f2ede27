package importing

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// yamlMistakes are those that the YAML decoder finds: keys that are not known, and values of another type.
type yamlMistakes struct {
	messages []string
	lines    []int // of the values that could not be read
}

func (m *yamlMistakes) add(message string) { m.messages = append(m.messages, message) }

// wrongType is the decoder's message about a value of another type: it names YAML's tag and Go's type.
var wrongType = regexp.MustCompile("(?s)^line (\\d+): cannot unmarshal !!(\\w+)(?: `.*`)? into (.+)$")

// doubledKey is the decoder's message about a mapping that it did not read, since one of its keys stands there twice.
var doubledKey = regexp.MustCompile(`^line (\d+): mapping key `)

// skip keeps the line of what could not be read.
func (m *yamlMistakes) skip(line string) {
	if n, err := strconv.Atoi(line); err == nil {
		m.lines = append(m.lines, n)
	}
}

// newYAMLMistakes takes Go's type names out of the decoder's messages.
func newYAMLMistakes(err error) yamlMistakes {
	var out yamlMistakes
	bad, ok := errors.AsType[*yaml.TypeError](err)
	if !ok {
		out.add(strings.TrimPrefix(err.Error(), "yaml: "))
		return out
	}
	for _, e := range bad.Errors {
		if parts := wrongType.FindStringSubmatch(e); parts != nil {
			out.add(fmt.Sprintf("line %s: %s is expected, not %s", parts[1], nameOfType(parts[3]), nameOfTag(parts[2])))
			out.skip(parts[1])
			continue
		}
		if parts := doubledKey.FindStringSubmatch(e); parts != nil {
			out.skip(parts[1])
		}
		message, _, unknown := strings.Cut(e, " not found in type ")
		if unknown {
			message = strings.Replace(message, "field ", "there is no key ", 1)
		}
		out.add(message)
	}
	return out
}

func nameOfType(name string) string {
	switch {
	case name == "string", name == "importing.Kind":
		return "a text"
	case strings.HasPrefix(name, "[]"):
		return "a list"
	default:
		return "a mapping"
	}
}

func nameOfTag(tag string) string {
	switch tag {
	case "seq":
		return "a list"
	case "map":
		return "a mapping"
	case "int", "float":
		return "a number"
	case "bool":
		return "a truth value"
	case "null":
		return "nothing"
	default:
		return "a text"
	}
}

// outline finds the parts of a mapping in its file, for the mistakes that only the checker sees.
type outline struct{ root *yaml.Node } // nil where the file holds no YAML mapping

func newOutline(text []byte) outline {
	var doc yaml.Node
	if yaml.Unmarshal(text, &doc) != nil || len(doc.Content) == 0 || doc.Content[0].Kind != yaml.MappingNode {
		return outline{}
	}
	return outline{root: doc.Content[0]}
}

// value finds a value by the keys that lead to it, and nil where it is not there.
func (o outline) value(keys ...string) *yaml.Node {
	node := o.root
	for _, key := range keys {
		_, node = entry(node, key)
	}
	return node
}

// column finds the column of a number, from 0.
func (o outline) column(i int) *yaml.Node { return item(o.value("columns"), i) }

// item finds an item of a list.
func item(list *yaml.Node, i int) *yaml.Node {
	list = target(list)
	if list == nil || list.Kind != yaml.SequenceNode || i >= len(list.Content) {
		return nil
	}
	return list.Content[i]
}

// entry finds a key of a mapping with its value.
func entry(node *yaml.Node, name string) (key, value *yaml.Node) {
	node = target(node)
	if node == nil || node.Kind != yaml.MappingNode {
		return nil, nil
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		if node.Content[i].Value == name {
			return node.Content[i], node.Content[i+1]
		}
	}
	return nil, nil
}

// target is what an alias stands for.
func target(node *yaml.Node) *yaml.Node {
	if node != nil && node.Kind == yaml.AliasNode {
		return node.Alias
	}
	return node
}

// lineOf is the beginning of a mistake: the line of a part of the file, where it is known.
func lineOf(node *yaml.Node) string {
	if node == nil {
		return ""
	}
	return fmt.Sprintf("line %d: ", node.Line)
}

// holds reports whether a part of the file has one of the lines.
func holds(node *yaml.Node, lines []int) bool {
	if node == nil {
		return false
	}
	for _, line := range lines {
		if node.Line <= line && line <= lastLine(node) {
			return true
		}
	}
	return false
}

func lastLine(node *yaml.Node) int {
	last := node.Line
	for _, child := range node.Content {
		last = max(last, lastLine(child))
	}
	return last
}
