// A worker in Go: amqp091 takes events from RabbitMQ, database/sql finds devices, net/http's HTTP/2 sends the pushes.
//
// usage: worker JOB.json      (Benchmarks/peers/README.md says what is in it)
package main

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"database/sql"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	_ "github.com/jackc/pgx/v4/stdlib"
	_ "github.com/mattn/go-sqlite3"
	amqp "github.com/rabbitmq/amqp091-go"
	"golang.org/x/net/http2"
)

type job struct {
	Broker, Queue, Registry string
	Prefetch                int
	APNs                    struct {
		Port                          int
		CA, Key, KeyID, TeamID, Topic string
	}
}

type event struct {
	Data struct {
		IdentityPoolID string `json:"identityPoolId"`
		IdentityID     string `json:"identityId"`
		DatasetName    string `json:"datasetName"`
		DeviceID       string `json:"deviceId"`
		SyncCount      int64  `json:"syncCount"`
	} `json:"data"`
}

type payload struct {
	APS struct {
		ContentAvailable int `json:"content-available"`
	} `json:"aps"`
	Data struct {
		Source         string `json:"source"`
		IdentityPoolID string `json:"identityPoolId"`
		IdentityID     string `json:"identityId"`
		DatasetName    string `json:"datasetName"`
		SyncCount      string `json:"syncCount"`
	} `json:"data"`
}

const subscribers = `
	SELECT d.token FROM identity n
	JOIN dataset_subscription u ON u.identity = n.id
	JOIN dataset_name s ON s.id = u.dataset_name
	JOIN device d ON d.id = u.device
	JOIN identity_pool p ON p.id = d.identity_pool
	WHERE n.name = $1 AND s.name = $2 AND p.name = $3 AND d.device_id <> $4`

// How many connections to the database there are.
const databaseConnections = 4

// acknowledgements acknowledge all messages up to the newest one before which all have ended, a hundred at a time.
type acknowledgements struct {
	mutex   sync.Mutex
	channel *amqp.Channel
	done    map[uint64]bool
	last    uint64
	settled uint64
	newest  uint64
}

func (a *acknowledgements) begin(tag uint64) {
	a.mutex.Lock()
	a.newest = tag
	a.mutex.Unlock()
}

func (a *acknowledgements) end(tag uint64) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	a.done[tag] = true
	for a.done[a.last+1] {
		a.last++
		delete(a.done, a.last)
	}
	if a.last-a.settled >= 100 || a.last > a.settled && a.last == a.newest {
		check(a.channel.Ack(a.last, true))
		a.settled = a.last
	}
}

type sender struct {
	client *http.Client
	base   string
	topic  string
	token  func() string
	room   chan struct{}
}

func (s *sender) push(device string, body []byte, collapse string) {
	s.room <- struct{}{}
	defer func() { <-s.room }()
	request, err := http.NewRequest("POST", s.base+device, bytes.NewReader(body))
	check(err)
	header := request.Header
	header["Authorization"] = []string{s.token()}
	header["Apns-Topic"] = []string{s.topic}
	header["Apns-Push-Type"] = []string{"background"}
	header["Apns-Priority"] = []string{"5"}
	header["Apns-Collapse-Id"] = []string{collapse}
	header["Apns-Id"] = []string{identifier()}
	answer, err := s.client.Do(request)
	check(err)
	text, err := io.ReadAll(answer.Body)
	check(err)
	answer.Body.Close()
	if answer.StatusCode != 200 {
		log.Fatalf("a push was answered %d %s", answer.StatusCode, text)
	}
}

func identifier() string {
	var b [16]byte
	_, err := rand.Read(b[:])
	check(err)
	b[6], b[8] = b[6]&15|64, b[8]&63|128
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

func newSender(j *job) *sender {
	pool := x509.NewCertPool()
	anchor, err := os.ReadFile(j.APNs.CA)
	check(err)
	pool.AppendCertsFromPEM(anchor)
	transport := &http2.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, StrictMaxConcurrentStreams: true}
	return &sender{
		client: &http.Client{Transport: transport},
		base:   "https://127.0.0.1:" + strconv.Itoa(j.APNs.Port) + "/3/device/",
		topic:  j.APNs.Topic, token: providerToken(j), room: make(chan struct{}, 1000),
	}
}

// providerToken gives the value of the header, signed anew every 40 minutes.
func providerToken(j *job) func() string {
	text, err := os.ReadFile(j.APNs.Key)
	check(err)
	block, _ := pem.Decode(text)
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	check(err)
	key := parsed.(*ecdsa.PrivateKey)
	var mutex sync.RWMutex
	var value string
	var signed time.Time
	return func() string {
		mutex.RLock()
		current, isFresh := value, time.Since(signed) < 40*time.Minute
		mutex.RUnlock()
		if isFresh {
			return current
		}
		mutex.Lock()
		defer mutex.Unlock()
		signed = time.Now()
		encode := base64.RawURLEncoding.EncodeToString
		token := encode([]byte(`{"alg":"ES256","kid":"`+j.APNs.KeyID+`"}`)) + "." +
			encode([]byte(fmt.Sprintf(`{"iss":"%s","iat":%d}`, j.APNs.TeamID, signed.Unix())))
		digest := sha256.Sum256([]byte(token))
		r, s, err := ecdsa.Sign(rand.Reader, key, digest[:])
		check(err)
		var signature [64]byte
		r.FillBytes(signature[:32])
		s.FillBytes(signature[32:])
		value = "bearer " + token + "." + encode(signature[:])
		return value
	}
}

func handle(delivery *amqp.Delivery, query *sql.Stmt, s *sender) {
	var e event
	check(json.Unmarshal(delivery.Body, &e))
	d := &e.Data
	rows, err := query.Query(d.IdentityID, d.DatasetName, d.IdentityPoolID, d.DeviceID)
	check(err)
	var tokens []string
	for rows.Next() {
		var token []byte
		check(rows.Scan(&token))
		tokens = append(tokens, hex.EncodeToString(token))
	}
	check(rows.Err())
	var p payload
	p.APS.ContentAvailable = 1
	p.Data.Source, p.Data.SyncCount = "cognito-sync", strconv.FormatInt(d.SyncCount, 10)
	p.Data.IdentityPoolID, p.Data.IdentityID, p.Data.DatasetName = d.IdentityPoolID, d.IdentityID, d.DatasetName
	body, err := json.Marshal(&p)
	check(err)
	digest := sha256.Sum256([]byte(d.IdentityPoolID + "\n" + d.IdentityID + "\n" + d.DatasetName))
	collapse := "dataset-" + hex.EncodeToString(digest[:16])
	if len(tokens) == 1 {
		s.push(tokens[0], body, collapse)
		return
	}
	var group sync.WaitGroup
	for _, token := range tokens {
		group.Add(1)
		go func(token string) {
			defer group.Done()
			s.push(token, body, collapse)
		}(token)
	}
	group.Wait()
}

func open(registry string) *sql.Stmt {
	kind, source := "pgx", registry
	if strings.HasPrefix(registry, "sqlite:") {
		kind, source = "sqlite3", "file:"+strings.TrimPrefix(registry, "sqlite:")+"?mode=ro"
	}
	database, err := sql.Open(kind, source)
	check(err)
	database.SetMaxOpenConns(databaseConnections)
	database.SetMaxIdleConns(databaseConnections)
	query, err := database.Prepare(subscribers)
	check(err)
	return query
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func main() {
	text, err := os.ReadFile(os.Args[1])
	check(err)
	j := &job{}
	check(json.Unmarshal(text, j))
	query, s := open(j.Registry), newSender(j)
	connection, err := amqp.Dial(j.Broker)
	check(err)
	channel, err := connection.Channel()
	check(err)
	check(channel.Qos(j.Prefetch, 0, false))
	deliveries, err := channel.Consume(j.Queue, "", false, false, false, false, nil)
	check(err)
	ends := &acknowledgements{channel: channel, done: map[uint64]bool{}}
	go func() {
		for delivery := range deliveries {
			ends.begin(delivery.DeliveryTag)
			// The prefetch bounds how many there are.
			go func(delivery amqp.Delivery) {
				handle(&delivery, query, s)
				ends.end(delivery.DeliveryTag)
			}(delivery)
		}
	}()
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM)
	<-stop
	connection.Close()
}
