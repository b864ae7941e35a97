package doctor

type packages map[string]string

// Packages that a machine may lack.
var (
	xwayland = packages{
		"apt-get": "xwayland", "dnf": "xorg-x11-server-Xwayland", "pacman": "xorg-xwayland", "zypper": "xwayland",
		"apk": "xwayland",
	}
	sessionBus = packages{
		"apt-get": "dbus-user-session", "dnf": "dbus-daemon", "pacman": "dbus", "zypper": "dbus-1", "apk": "dbus",
	}
	trayOfGNOME = packages{
		"apt-get": "gnome-shell-extension-appindicator", "dnf": "gnome-shell-extension-appindicator",
		"pacman": "gnome-shell-extension-appindicator", "zypper": "gnome-shell-extension-appindicator",
	}
	dunst = packages{"apt-get": "dunst", "dnf": "dunst", "pacman": "dunst", "zypper": "dunst", "apk": "dunst"}
	mako  = packages{"apt-get": "mako-notifier", "dnf": "mako", "pacman": "mako", "zypper": "mako", "apk": "mako"}

	bubblewrap = packages{
		"apt-get": "bubblewrap", "dnf": "bubblewrap", "pacman": "bubblewrap", "zypper": "bubblewrap", "apk": "bubblewrap",
	}
	openGL = packages{
		"apt-get": "libgl1 libgl1-mesa-dri", "dnf": "mesa-libGL mesa-dri-drivers", "pacman": "mesa",
		"zypper": "Mesa-libGL1 Mesa-dri", "apk": "mesa-gl mesa-dri-gallium",
	}
	cjkFonts = packages{
		"apt-get": "fonts-noto-cjk", "dnf": "google-noto-sans-cjk-fonts", "pacman": "noto-fonts-cjk",
		"zypper": "google-noto-sans-cjk-fonts", "apk": "font-noto-cjk",
	}
	emojiFonts = packages{
		"apt-get": "fonts-noto-color-emoji", "dnf": "google-noto-color-emoji-fonts", "pacman": "noto-fonts-emoji",
		"zypper": "google-noto-coloremoji-fonts", "apk": "font-noto-emoji",
	}
)

func (h host) install(names packages) *cure {
	for _, manager := range []struct{ program, command string }{
		{"apt-get", "sudo apt-get install"}, {"dnf", "sudo dnf install"}, {"pacman", "sudo pacman -S"},
		{"zypper", "sudo zypper install"}, {"apk", "sudo apk add"},
	} {
		name := names[manager.program]
		if _, err := h.Look(manager.program); err == nil && name != "" {
			return run("%s %s", manager.command, name)
		}
	}
	return open("the package manager, and install " + names["apt-get"])
}
