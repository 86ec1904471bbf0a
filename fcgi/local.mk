# layer 7: penstockd. main.c and wire.c are linked twice: with the engine, and
# with a script (t/penstockd-scripted).
noinst_LIBRARIES += libp_fcgi.a
libp_fcgi_a_SOURCES = \
	fcgi/conf.c fcgi/conf.h \
	fcgi/conn.c fcgi/conn.h \
	fcgi/front.c fcgi/front.h \
	fcgi/handler.c fcgi/handler.h \
	fcgi/listen.c fcgi/listen.h \
	fcgi/out.c fcgi/out.h \
	fcgi/req.c fcgi/req.h \
	fcgi/writer.c fcgi/writer.h
libp_fcgi_a_CFLAGS = $(AM_CFLAGS) $(FCGI_CFLAGS)
nginxdir = $(pkgdatadir)/nginx
dist_nginx_DATA = nginx/penstock.conf
EXTRA_DIST += contrib/get-nginx
