# What make install adds to the programs: documents, and as examples the
# systemd units and the settings.
dist_doc_DATA = README.md LICENSE
exampledir = $(docdir)/examples
nodist_example_DATA = examples/penstockd.service examples/penstockd.socket
CLEANFILES += $(nodist_example_DATA)

# The units are written for /usr/local.
examples/penstockd.service: contrib/penstockd.service Makefile
	$(AM_V_GEN)$(MKDIR_P) examples && \
	sed -e $(unit_paths) $(srcdir)/contrib/penstockd.service >$@.tmp && \
	  mv $@.tmp $@
examples/penstockd.socket: contrib/penstockd.socket Makefile
	$(AM_V_GEN)$(MKDIR_P) examples && \
	sed -e $(unit_paths) $(srcdir)/contrib/penstockd.socket >$@.tmp && \
	  mv $@.tmp $@
unit_paths = 's|/usr/local/bin|$(bindir)|; s|/usr/local/share/doc/penstock|$(docdir)|'

# A program for another machine cannot print its settings here.
if !CROSS
nodist_example_DATA += examples/penstock.conf
examples/penstock.conf: penstockd$(EXEEXT)
	$(AM_V_GEN)$(MKDIR_P) examples && \
	./penstockd$(EXEEXT) --sample-config >$@.tmp && mv $@.tmp $@
endif

install-data-local:
	$(MKDIR_P) $(DESTDIR)$(docdir)
	$(INSTALL_DATA) $(srcdir)/docs/*.md $(DESTDIR)$(docdir)
uninstall-local:
	cd $(srcdir)/docs && for f in *.md; do \
	  rm -f "$(DESTDIR)$(docdir)/$$f"; done
