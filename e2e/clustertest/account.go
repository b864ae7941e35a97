package clustertest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"
)

// Account is the one that nod has on the cluster. Its users have credentials, which it can revoke.
type Account struct {
	Operator string  // the operator's token
	System   *Signed // the account through which the servers are told of changes

	*Signed
	cluster  *Cluster
	operator nkeys.KeyPair

	mu    sync.Mutex        // guards all below, and Token and claims
	users map[string]string // their public keys, by name
}

// Signed is an account as its operator signed it.
type Signed struct {
	ID, Token string

	key    nkeys.KeyPair
	claims *jwt.AccountClaims
}

func newAccount(c *Cluster) (*Account, error) {
	key, err := nkeys.CreateOperator()
	if err != nil {
		return nil, err
	}
	id, err := key.PublicKey()
	if err != nil {
		return nil, err
	}
	a := &Account{cluster: c, operator: key, users: map[string]string{}}
	if a.System, err = newSigned("SYS", key, jwt.OperatorLimits{
		NatsLimits: unlimited.NatsLimits, AccountLimits: unlimited.AccountLimits,
	}); err != nil {
		return nil, err
	}
	if a.Signed, err = newSigned("NOD", key, unlimited); err != nil {
		return nil, err
	}
	claims := jwt.NewOperatorClaims(id)
	claims.Name, claims.SystemAccount = "nod", a.System.ID
	a.Operator, err = claims.Encode(key)
	return a, err
}

// unlimited lets an account do all.
var unlimited = jwt.OperatorLimits{
	NatsLimits: jwt.NatsLimits{Subs: jwt.NoLimit, Data: jwt.NoLimit, Payload: jwt.NoLimit},
	AccountLimits: jwt.AccountLimits{
		Imports: jwt.NoLimit, Exports: jwt.NoLimit, WildcardExports: true, Conn: jwt.NoLimit, LeafNodeConn: jwt.NoLimit,
	},
}

func newSigned(name string, operator nkeys.KeyPair, limits jwt.OperatorLimits) (*Signed, error) {
	key, err := nkeys.CreateAccount()
	if err != nil {
		return nil, err
	}
	id, err := key.PublicKey()
	if err != nil {
		return nil, err
	}
	s := &Signed{ID: id, key: key, claims: jwt.NewAccountClaims(id)}
	s.claims.Name, s.claims.Limits = name, limits
	s.Token, err = s.claims.Encode(operator)
	return s, err
}

// User makes credentials for a client, and returns the file with them. An earlier user of that name stays.
func (a *Account) User(name string) (path string, err error) {
	text, id, err := a.Signed.user(name)
	if err != nil {
		return "", err
	}
	a.mu.Lock()
	a.users[name] = id
	a.mu.Unlock()
	path = filepath.Join(a.cluster.options.Dir, name+".creds")
	return path, os.WriteFile(path, text, 0o600)
}

// user makes a user of the account.
func (s *Signed) user(name string) (credentials []byte, id string, err error) {
	key, err := nkeys.CreateUser()
	if err != nil {
		return nil, "", err
	}
	if id, err = key.PublicKey(); err != nil {
		return nil, "", err
	}
	claims := jwt.NewUserClaims(id)
	claims.Name = name
	token, err := claims.Encode(s.key)
	if err != nil {
		return nil, "", err
	}
	seed, err := key.Seed()
	if err != nil {
		return nil, "", err
	}
	credentials, err = jwt.FormatUserConfig(token, seed)
	return credentials, id, err
}

// Revoke makes a user's credentials worthless. It returns when the servers have taken that in, and so have ended the
// user's connections.
func (a *Account) Revoke(ctx context.Context, name string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	id, known := a.users[name]
	if !known {
		return fmt.Errorf("revoke the credentials of %s: no such user", name)
	}
	a.claims.Revoke(id)
	token, err := a.claims.Encode(a.operator)
	if err != nil {
		return err
	}
	a.Token = token
	return a.push(ctx)
}

// push gives the servers the account as it is now.
func (a *Account) push(ctx context.Context) error {
	credentials, _, err := a.System.user("system")
	if err != nil {
		return err
	}
	path := filepath.Join(a.cluster.options.Dir, "system.creds")
	if err := os.WriteFile(path, credentials, 0o600); err != nil {
		return err
	}
	system, err := nats.Connect(a.cluster.URL(), append(a.cluster.Options(), nats.UserCredentials(path))...)
	if err != nil {
		return err
	}
	defer system.Close()
	return a.cluster.request(ctx, system, "$SYS.REQ.CLAIMS.UPDATE", []byte(a.Token))
}

// request asks the cluster for something and returns the error that it answers with.
func (c *Cluster) request(ctx context.Context, conn *nats.Conn, subject string, body []byte) error {
	reply, err := conn.RequestWithContext(ctx, subject, body)
	if err != nil {
		return fmt.Errorf("%s: %w", subject, err)
	}
	var answer struct {
		Error *struct {
			Description string `json:"description"`
		} `json:"error"`
	}
	if err := json.Unmarshal(reply.Data, &answer); err != nil {
		return fmt.Errorf("%s: %w", subject, err)
	}
	if answer.Error != nil {
		return errors.New(subject + ": " + answer.Error.Description)
	}
	return nil
}
