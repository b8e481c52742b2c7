import { expect, it } from 'vitest'
import { wantsHtml } from './error-page.ts'

const ua = { 'user-agent': 'Mozilla/5.0 Firefox/140.0' }

it.each([
  [{}, false],
  [{ 'user-agent': 'curl/8.5.0', accept: 'text/html' }, false],
  [{ 'user-agent': 'e2b-js-sdk/2.51.0' }, false],
  [{ 'user-agent': 'node' }, false],
  [ua, true],
  [{ 'user-agent': 'OPERA/9' }, true],
  [{ ...ua, accept: '*/*' }, true],
  [{ ...ua, accept: 'application/json' }, false],
  [{ ...ua, accept: 'Application/JSON, */*' }, false],
  [{ ...ua, accept: 'application/json, text/html' }, true],
  [{ ...ua, 'sec-fetch-mode': 'cors' }, false],
  [{ ...ua, 'sec-fetch-mode': 'no-cors' }, false],
  [{ ...ua, 'sec-fetch-mode': 'same-origin' }, false],
  [{ ...ua, 'sec-fetch-mode': 'websocket' }, false],
  [{ ...ua, 'sec-fetch-mode': 'navigate' }, true],
  [{ ...ua, 'x-requested-with': 'XMLHttpRequest' }, false],
  [{ ...ua, 'x-requested-with': 'com.example.app', 'sec-fetch-mode': 'navigate' }, true],
  [{ ...ua, accept: 'application/json', 'sec-fetch-mode': 'navigate' }, false],
])('%j: %s', (headers, expected) => expect(wantsHtml(headers)).toBe(expected))
