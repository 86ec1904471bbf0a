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

bin_PROGRAMS += penstockd
penstockd_SOURCES = $(penstockd_main) fcgi/wire_engine.c
penstockd_CFLAGS = $(AM_CFLAGS) $(FCGI_CFLAGS)
penstockd_LDADD = libp_fcgi.a $(P_LIBS) $(P_LDLIBS) $(FCGI_LIBS)

penstockd_main = fcgi/main.c fcgi/wire.c fcgi/wire.h
check_PROGRAMS += t/penstockd-scripted
t_penstockd_scripted_SOURCES = $(penstockd_main) t/lib/wire_scripted.c
t_penstockd_scripted_CFLAGS = $(AM_CFLAGS) $(FCGI_CFLAGS)
t_penstockd_scripted_LDADD = libp_fcgi.a libt_scripted.a $(P_LIBS) \
	$(P_LDLIBS) $(FCGI_LIBS)
