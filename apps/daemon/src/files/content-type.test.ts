import { describe, expect, it } from 'vitest'
import { typeByExtension } from './content-type.ts'
import { sniffContentType } from './sniff-content-type.ts'

describe('typeByExtension', () => {
  it.each([
    ['/a/x.html', 'text/html; charset=utf-8'],
    ['/a/x.HTML', 'text/html; charset=utf-8'],
    ['/a/x.tar.gz', 'application/gzip'],
    ['/a/.json', 'application/json'],
    ['/a.json/x', undefined],
    ['/a/x.', undefined],
    ['/a/x', undefined],
    ['/a/x.constructor', undefined],
    ['/a/x.py', undefined],
  ])('%s: %s', (path, type) => {
    expect(typeByExtension(path)).toBe(type)
  })
})

describe('sniffContentType', () => {
  const box = (brands: string, size = 24) => `\0\0\0${String.fromCharCode(size)}ftyp${brands}`
  it.each([
    ['', 'text/plain; charset=utf-8'],
    ['plain text\n', 'text/plain; charset=utf-8'],
    ['Ã©', 'text/plain; charset=utf-8'],
    ['\x1b[0m', 'text/plain; charset=utf-8'],
    ['a'.repeat(511) + '\0', 'application/octet-stream'],
    ['a'.repeat(512) + '\0', 'text/plain; charset=utf-8'],
    ['\0\x01\x02\x03', 'application/octet-stream'],
    ['\x0ba', 'application/octet-stream'],
    ['  <!DOCTYPE HTML>\n<p>', 'text/html; charset=utf-8'],
    ['<script >x', 'text/html; charset=utf-8'],
    ['<!-- c -->', 'text/html; charset=utf-8'],
    ['<htmlx>', 'text/plain; charset=utf-8'],
    ['<svg xmlns="x">', 'text/plain; charset=utf-8'],
    ['<?xml version="1.0"?>', 'text/xml; charset=utf-8'],
    ['%PDF-1.4', 'application/pdf'],
    ['\xef\xbb\xbfhi', 'text/plain; charset=utf-8'],
    ['\xff\xfea\0', 'text/plain; charset=utf-16le'],
    ['\x89PNG\r\n\x1a\n\0', 'image/png'],
    ['GIF89a', 'image/gif'],
    ['\xff\xd8\xff\0', 'image/jpeg'],
    ['RIFFxxxxWEBPVP', 'image/webp'],
    ['RIFFxxxxWAVE', 'audio/wave'],
    ['\0\0\x01\0', 'image/x-icon'],
    ['PK\x03\x04', 'application/zip'],
    ['\x1f\x8b\x08', 'application/x-gzip'],
    ['Rar!\x1a\x07\x01\0', 'application/x-rar-compressed'],
    ['\0asm', 'application/wasm'],
    ['\0'.repeat(34) + 'LP', 'application/vnd.ms-fontobject'],
    [box('mp42\0\0\0\0isommp42'), 'video/mp4'],
    [box('isom\0\0\0\0abcd', 20), 'application/octet-stream'],
    [box('isommp42abcdefgh'), 'application/octet-stream'],
  ])('%j: %s', (bytes, type) => {
    expect(sniffContentType(Buffer.from(bytes, 'latin1'))).toBe(type)
  })
})
