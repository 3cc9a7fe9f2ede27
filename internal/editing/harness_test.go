package editing

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"catalogue/internal/httpserver"
	"catalogue/internal/idempotency"
	"catalogue/internal/mongotest"
)

func TestMain(m *testing.M) {
	gin.SetMode(gin.TestMode)
	os.Exit(mongotest.Main(m))
}

// log is what was logged.
type log struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// service serves one route of many items, each done by a function of the test.
type service struct {
	url    string
	db     *mongo.Database
	log    *log
	client *http.Client
}

func serveMany(t *testing.T, timeout time.Duration, do func(ctx context.Context, i Item) (Outcome, error)) *service {
	t.Helper()
	s := &service{db: mongotest.Database(t), log: &log{}}
	logger := slog.New(slog.NewTextHandler(s.log, nil))
	server, err := httpserver.New(httpserver.Options{Logger: logger, RequestTimeout: timeout})
	require.NoError(t, err)
	keys := idempotency.NewStore(s.db, time.Minute)
	RegisterMany(server.Routes(), Services{TrustUser: true, Keys: keys, Log: logger}, "/many", do)
	web := httptest.NewServer(server.Handler())
	t.Cleanup(web.Close)
	s.url, s.client = web.URL+"/many", web.Client()
	return s
}

// post sends items of their own under a key, and returns the answer's status, body and headers.
func (s *service) post(ctx context.Context, items string) (int, string, http.Header, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url, strings.NewReader(`{"items": `+items+`}`))
	if err != nil {
		return 0, "", nil, err
	}
	req.Header = http.Header{"Content-Type": {"application/json"}, UserHeader: {"ann"}, keyHeader: {"k"}}
	res, err := s.client.Do(req)
	if err != nil {
		return 0, "", nil, err
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	return res.StatusCode, string(body), res.Header, err
}

// keys is how many keys are held, or have an answer.
func (s *service) keys(t *testing.T) int64 {
	t.Helper()
	n, err := s.db.Collection(idempotency.Collection).CountDocuments(t.Context(), bson.D{})
	require.NoError(t, err)
	return n
}
