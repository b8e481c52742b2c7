import { expect, it } from 'vitest'
import { parseBasicUser } from './basic-user.ts'

const encode = (text: string) => Buffer.from(text).toString('base64')

it.each([
  [undefined, undefined],
  ['', undefined],
  [`Bearer ${encode('a:')}`, undefined],
  [`Basic ${encode('user:')}`, 'user'],
  [`basic ${encode('user:pass:word')}`, 'user'],
  [`Basic ${encode(':')}`, ''],
  [`Basic ${encode('user')}`, undefined],
  [`Basic ${encode('é:')}`, 'é'],
  [`Basic ${encode('user:')}!`, undefined],
  [`Basic ${encode('us:').replace(/=+$/, '')}x`, undefined],
])('%j names %j', (header, name) => {
  expect(parseBasicUser(header)).toBe(name)
})
