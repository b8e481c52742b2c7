import { describe, expect, it } from 'vitest'
import { inlineDisposition } from './content-disposition.ts'

describe('inlineDisposition', () => {
  it.each([
    ['test.txt', 'inline; filename=test.txt'],
    ['.env', 'inline; filename=.env'],
    ['archive.tar.gz', 'inline; filename=archive.tar.gz'],
    ["a%b'c{d}", "inline; filename=a%b'c{d}"],
    ['my document.pdf', 'inline; filename="my document.pdf"'],
    ['a;b=c,(d)', 'inline; filename="a;b=c,(d)"'],
    ['a"b\\c', String.raw`inline; filename="a\"b\\c"`],
    ['tab\tx', 'inline; filename="tab\tx"'],
    ['文档.pdf', "inline; filename*=utf-8''%E6%96%87%E6%A1%A3.pdf"],
    ['café (1)*.txt', "inline; filename*=utf-8''caf%C3%A9%20%281%29%2A.txt"],
    ["é*'%{}!#$&+^`|~", "inline; filename*=utf-8''%C3%A9%2A%27%25{}!#$&+^`|~"],
    ['nl\nx', "inline; filename*=utf-8''nl%0Ax"],
    ['del\x7f', "inline; filename*=utf-8''del%7F"],
  ])('%j (envd.md 18.23)', (name, header) => {
    expect(inlineDisposition(name)).toBe(header)
  })
})
