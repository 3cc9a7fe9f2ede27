package changes_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// writeMethods are the driver's ways to change documents, writeCommands the commands and stages that do the same.
var (
	writeMethods = []string{
		"InsertOne", "InsertMany", "UpdateOne", "UpdateMany", "UpdateByID", "ReplaceOne", "DeleteOne", "DeleteMany",
		"BulkWrite", "FindOneAndUpdate", "FindOneAndReplace", "FindOneAndDelete",
	}
	writeCommands = []string{"insert", "update", "delete", "findAndModify", "findandmodify", "bulkWrite", "$out", "$merge"}
	entities      = []string{"creatives", "tasks", "comments"}
)

// mayWrite are the rooms that write to the database: this package and made data write objects, the others what is their
// own.
var mayWrite = map[string]bool{
	"internal/changes": true, "internal/seeding": true,
	"internal/idempotency": false, "internal/mongodb": false, "internal/mongotest": false, "indexes": false, "migrations": false,
}

// elsewhere are the folders with programs of their own. The benchmarks write only what they have made.
var elsewhere = []string{"tools", "bench"}

// No write of an object goes past this package: it would lose its stamps, its rev, its history. Made data is the named
// exception, and sets the stamps itself. The linter says the same of method calls, with types.
func TestNoWriteOfAnObjectGetsAroundThisPackage(t *testing.T) {
	t.Parallel()
	const root = "../.."
	seen := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (strings.HasPrefix(d.Name(), ".") && path != root || slices.Contains(elsewhere, d.Name())):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		room, err := filepath.Rel(root, filepath.Dir(path))
		require.NoError(t, err)
		writes, names := writesOf(t, path)
		writesObjects, allowed := mayWrite[filepath.ToSlash(room)]
		if len(writes) > 0 {
			seen[room] = true
		}
		require.True(t, allowed || len(writes) == 0, "%s writes to the database: %v", path, writes)
		require.True(t, writesObjects || len(writes) == 0 || len(names) == 0, "%s writes, and names %v", path, names)
		return nil
	})
	require.NoError(t, err)
	for room := range mayWrite {
		require.True(t, seen[filepath.FromSlash(room)], "the search has lost sight of %s", room)
	}
}

// writesOf lists what in a file writes to a database, and the collections of objects that it names.
func writesOf(t *testing.T, path string) (writes, names []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	require.NoError(t, err)
	usesDriver := slices.ContainsFunc(file.Imports, func(i *ast.ImportSpec) bool {
		return regexp.MustCompile(`^"go\.mongodb\.org/mongo-driver/v2/(mongo|bson)"$`).MatchString(i.Path.Value)
	})
	if !usesDriver {
		return nil, nil
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if slices.Contains(writeMethods, n.Sel.Name) && !isPackage(n.X, "options") {
				writes = append(writes, n.Sel.Name)
			}
		case *ast.KeyValueExpr: // {Key: "insert", …}
			if key, ok := n.Key.(*ast.Ident); ok && key.Name == "Key" && slices.Contains(writeCommands, text(n.Value)) {
				writes = append(writes, text(n.Value))
			}
		case *ast.BasicLit:
			if slices.Contains(entities, text(n)) {
				names = append(names, text(n))
			}
		}
		return true
	})
	return writes, names
}

func isPackage(x ast.Expr, name string) bool {
	id, ok := x.(*ast.Ident)
	return ok && id.Name == name
}

// text is the value of a literal, empty where it is none.
func text(x ast.Expr) string {
	lit, ok := x.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return ""
	}
	s, _ := strconv.Unquote(lit.Value)
	return s
}
