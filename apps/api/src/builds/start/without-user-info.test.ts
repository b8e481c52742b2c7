import { expect, it } from 'vitest'
import { withoutUserInfo } from './without-user-info.ts'

it.each([
  ['http://user:pw@host/x', 'http://***@host/x'],
  ['user:pw@registry.example:5000/team/app:v1', '***@registry.example:5000/team/app:v1'],
  [':pw@host/x', '***@host/x'],
  ['debian:bookworm-slim', 'debian:bookworm-slim'],
  ['registry.example:5000/team/app', 'registry.example:5000/team/app'],
  ['debian@sha256:0a1b', 'debian@sha256:0a1b'],
  ['debian:12@sha256:0a1b', 'debian:12@sha256:0a1b'],
  ['registry.example:5000/team/app:v1@sha256:0a1b', 'registry.example:5000/team/app:v1@sha256:0a1b'],
])('%s', (reference, shown) => expect(withoutUserInfo(reference)).toBe(shown))
