//go:build unix && !darwin

package asking

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/godbus/dbus/v5"
	"github.com/jezek/xgb"
	"github.com/jezek/xgb/xproto"

	"nod/app/desktop"
	"nod/policy/config"
)

// listenToKeys listens to a combination of keys: on X11 by grabbing it, on Wayland through the desktop's portal.
func listenToKeys(ctx context.Context, keys config.Shortcut, e shortcutEvents) error {
	if os.Getenv("WAYLAND_DISPLAY") != "" {
		return listenToPortal(ctx, keys, e)
	}
	return listenToX(ctx, keys, e)
}

// The keysyms of X11 that are no characters.
const (
	keysymF1      = 0xffbe // the others follow
	keysymNumLock = 0xff7f
)

// listenToX grabs the keys. The error wraps [errNoShortcut] when another program has them.
func listenToX(ctx context.Context, keys config.Shortcut, e shortcutEvents) error {
	xgb.Logger.SetOutput(io.Discard) // it writes of every connection without a file of authorities
	conn, err := xgb.NewConn()
	if err != nil {
		return fmt.Errorf("reach the X server at %q: %w", os.Getenv("DISPLAY"), err)
	}
	defer context.AfterFunc(ctx, conn.Close)()
	defer conn.Close()
	board, err := readKeyboard(conn)
	if err == nil {
		err = board.grab(keys)
	}
	if err != nil {
		return err
	}
	e.bound()
	for {
		event, refused := conn.WaitForEvent()
		if event == nil && refused == nil {
			return errors.New("the X server ended the connection")
		}
		switch event.(type) {
		case xproto.KeyPressEvent:
			go e.pressed()
		case xproto.MappingNotifyEvent: // another keyboard or layout
			if board, err = board.renew(keys); err != nil {
				return err
			}
		}
	}
}

func keysymOf(key string) xproto.Keysym {
	var number xproto.Keysym
	switch {
	case key == "Space":
		return ' '
	case len(key) == 1:
		return xproto.Keysym(strings.ToLower(key)[0])
	}
	_, _ = fmt.Sscanf(key, "F%d", &number) // config.ParseShortcut has checked it
	return keysymF1 + number - 1
}

// keyboard says which keys bear which characters.
type keyboard struct {
	conn    *xgb.Conn
	first   xproto.Keycode
	width   int             // keysyms for each key
	keysyms []xproto.Keysym // of all keys
	numLock uint16          // the modifier's mask
}

func readKeyboard(conn *xgb.Conn) (*keyboard, error) {
	setup := xproto.Setup(conn)
	count := byte(setup.MaxKeycode - setup.MinKeycode + 1)
	keys, err := xproto.GetKeyboardMapping(conn, setup.MinKeycode, count).Reply()
	if err != nil {
		return nil, fmt.Errorf("read the keyboard: %w", err)
	}
	modifiers, err := xproto.GetModifierMapping(conn).Reply()
	if err != nil {
		return nil, fmt.Errorf("read the keyboard: %w", err)
	}
	k := &keyboard{conn: conn, first: setup.MinKeycode, width: int(keys.KeysymsPerKeycode), keysyms: keys.Keysyms}
	numLock := k.codes(keysymNumLock)
	for i, code := range modifiers.Keycodes {
		if slices.Contains(numLock, code) {
			k.numLock = 1 << (i / int(modifiers.KeycodesPerModifier))
		}
	}
	return k, nil
}

// grab has the X server send the keys to nod, whatever locks are on.
func (k *keyboard) grab(keys config.Shortcut) error {
	codes := k.codes(keysymOf(keys.Key))
	if len(codes) == 0 {
		return fmt.Errorf("%w: this keyboard has no key %s", errNoShortcut, keys.Key)
	}
	var held uint16
	for mask, down := range map[uint16]bool{xproto.ModMaskControl: keys.Ctrl, xproto.ModMask1: keys.Alt,
		xproto.ModMaskShift: keys.Shift, xproto.ModMask4: keys.Super} {
		if down {
			held |= mask
		}
	}
	for _, code := range codes {
		for _, locks := range []uint16{0, xproto.ModMaskLock, k.numLock, xproto.ModMaskLock | k.numLock} {
			err := xproto.GrabKeyChecked(k.conn, true, k.root(), held|locks, code,
				xproto.GrabModeAsync, xproto.GrabModeAsync).Check()
			if _, taken := errors.AsType[xproto.AccessError](err); taken {
				return fmt.Errorf("%w: another program uses %s", errNoShortcut, keys)
			}
			if err != nil {
				return fmt.Errorf("grab the keys %s: %w", keys, err)
			}
		}
	}
	return nil
}

// renew reads the keyboard again. It grabs the keys again only if they have moved.
func (k *keyboard) renew(keys config.Shortcut) (*keyboard, error) {
	now, err := readKeyboard(k.conn)
	if err != nil {
		return nil, err
	}
	sym := keysymOf(keys.Key)
	if now.numLock == k.numLock && slices.Equal(now.codes(sym), k.codes(sym)) {
		return now, nil
	}
	xproto.UngrabKey(k.conn, xproto.GrabAny, k.root(), xproto.ModMaskAny)
	return now, now.grab(keys)
}

func (k *keyboard) root() xproto.Window { return xproto.Setup(k.conn).DefaultScreen(k.conn).Root }

// codes are the keys that bear a character without Shift.
func (k *keyboard) codes(sym xproto.Keysym) []xproto.Keycode {
	var codes []xproto.Keycode
	for i := 0; k.width > 0 && i < len(k.keysyms); i += k.width {
		if k.keysyms[i] == sym {
			codes = append(codes, k.first+xproto.Keycode(i/k.width))
		}
	}
	return codes
}

const (
	portalShortcuts = "org.freedesktop.portal.GlobalShortcuts"
	portalRequest   = "org.freedesktop.portal.Request"
	shortcutID      = "raise"
)

type portalShortcut struct {
	ID         string
	Properties map[string]dbus.Variant
}

// listenToPortal asks the desktop for the keys, which may ask the user to confirm or change them.
func listenToPortal(ctx context.Context, keys config.Shortcut, e shortcutEvents) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // closes the connection
	conn, err := connectPortal(ctx)
	if err != nil {
		return fmt.Errorf("connect to the session bus: %w", err)
	}
	signals := make(chan *dbus.Signal, 16)
	conn.Signal(signals)
	for _, what := range []string{portalShortcuts, portalRequest} {
		if err := conn.AddMatchSignal(dbus.WithMatchSender(desktop.Portal), dbus.WithMatchInterface(what)); err != nil {
			return fmt.Errorf("listen to the desktop's portal: %w", err)
		}
	}
	p := &portalSession{service: conn.Object(desktop.Portal, portalPath), signals: signals}
	token := dbus.MakeVariant("nod")
	created, err := p.request(ctx, "CreateSession", map[string]dbus.Variant{
		"handle_token": token, "session_handle_token": token})
	if err != nil {
		return err
	}
	handle := dbus.ObjectPath(fmt.Sprint(created["session_handle"].Value())) // a text or a path
	wanted := []portalShortcut{{shortcutID, map[string]dbus.Variant{
		"description": dbus.MakeVariant("Bring nod up"), "preferred_trigger": dbus.MakeVariant(portalTrigger(keys))}}}
	if _, err := p.request(ctx, "BindShortcuts", handle, wanted, "",
		map[string]dbus.Variant{"handle_token": token}); err != nil {
		return err
	}
	e.bound()
	for s := range signals {
		if s.Name == portalShortcuts+".Activated" && len(s.Body) > 1 && s.Body[0] == handle &&
			s.Body[1] == shortcutID {
			go e.pressed()
		}
	}
	return errors.New("the session bus ended the connection")
}

// portalTrigger writes keys as the XDG specification of shortcuts has them: CTRL+ALT+n.
func portalTrigger(keys config.Shortcut) string {
	named := config.Shortcut{Ctrl: keys.Ctrl, Alt: keys.Alt, Shift: keys.Shift, Super: keys.Super}.String()
	held := strings.ReplaceAll(strings.ToUpper(named), "SUPER", "LOGO")
	if len(keys.Key) == 1 || keys.Key == "Space" {
		return held + strings.ToLower(keys.Key)
	}
	return held + keys.Key
}

type portalSession struct {
	service dbus.BusObject
	signals <-chan *dbus.Signal
}

// request calls a method that answers with a signal, and waits for that: the desktop may ask the user first.
func (p *portalSession) request(ctx context.Context, method string, args ...any) (map[string]dbus.Variant, error) {
	var handle dbus.ObjectPath
	if err := p.service.CallWithContext(ctx, portalShortcuts+"."+method, 0, args...).Store(&handle); err != nil {
		return nil, fmt.Errorf("%w: this desktop's portal has none: %w", errNoShortcut, err)
	}
	for s := range p.signals {
		if s.Name != portalRequest+".Response" || s.Path != handle || len(s.Body) != 2 {
			continue
		}
		results, _ := s.Body[1].(map[string]dbus.Variant)
		if code, _ := s.Body[0].(uint32); code != 0 || results == nil {
			return nil, fmt.Errorf("%w: this desktop did not allow it", errNoShortcut)
		}
		return results, nil
	}
	return nil, cmp.Or(ctx.Err(), errors.New("the session bus ended the connection"))
}
