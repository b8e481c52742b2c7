import { describe, expect, it } from 'vitest'
import { parseFileQuery } from './file-query.ts'

const nothing = { path: undefined, username: undefined, signature: undefined, expiration: undefined }

describe('parseFileQuery', () => {
  it.each([
    ['/files', nothing],
    ['/files?', nothing],
    ['/files?path=', { ...nothing, path: '' }],
    ['/files?path', { ...nothing, path: '' }],
    ['/files?path=a+b%2Fc%20d', { ...nothing, path: 'a b/c d' }],
    ['/files?path=/%E6%96%87/Ã©', { ...nothing, path: '/文/é' }],
    ['/files?path=a=b', { ...nothing, path: 'a=b' }],
    ['/files?path=/x%zz&username=u', { ...nothing, username: 'u' }],
    ['/files?path=/x;y=1', nothing],
    ['/files?other=1&other=2&path=/x', { ...nothing, path: '/x' }],
    ['/files?signature=v1_a%2Fb%2B', { ...nothing, signature: 'v1_a/b+' }],
    ['/files?signature_expiration=%2B17', { ...nothing, expiration: 17n }],
    ['/files?signature_expiration=-5', { ...nothing, expiration: -5n }],
  ])('%s', (url, expected) => {
    expect(parseFileQuery(url)).toEqual(expected)
  })

  it.each([
    ['/files?path=a&path=b', "Invalid format for parameter path: multiple values for single value parameter 'path'"],
    ['/files?signature=a&signature=a', "Invalid format for parameter signature: multiple values for single value parameter 'signature'"],
    [
      '/files?signature_expiration=abc',
      'Invalid format for parameter signature_expiration: error binding string parameter: strconv.ParseInt: parsing "abc": invalid syntax',
    ],
    [
      '/files?signature_expiration=',
      'Invalid format for parameter signature_expiration: error binding string parameter: strconv.ParseInt: parsing "": invalid syntax',
    ],
    [
      '/files?signature_expiration=9223372036854775808',
      'Invalid format for parameter signature_expiration: error binding string parameter: strconv.ParseInt: parsing "9223372036854775808": value out of range',
    ],
  ])('refuses %s', (url, message) => {
    expect(() => parseFileQuery(url)).toThrow(message)
  })
})
