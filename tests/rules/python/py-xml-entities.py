from lxml import etree


def read(path, sax):
    etree.XMLParser(resolve_entities=True)  # expect
    etree.XMLParser(no_network=False)  # expect
    sax.setFeature(xml.sax.handler.feature_external_ges, True)  # expect
    etree.iterparse(path, load_dtd=True)  # expect


def parse_upload(data):
    return etree.fromstring(data)  # expect


def safe(path, sax, parser):
    etree.XMLParser(resolve_entities=False)  # ok: off
    sax.setFeature(xml.sax.handler.feature_external_ges, False)  # ok: off
    etree.fromstring(path, parser)  # ok: its own parser
    return etree.parse("menu.xml")  # ok: its own file
