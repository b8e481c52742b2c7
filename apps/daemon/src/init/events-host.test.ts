import { expect, it } from 'vitest'
import { withHostEntry } from './events-host.ts'

const OTHERS = '127.0.0.1\tlocalhost\n# events.e2b.local in a comment\n'

it.each([
  ['is added', OTHERS, `${OTHERS}10.0.0.1\tevents.e2b.local\n`],
  ['is added behind a line without an end', '127.0.0.1 localhost', '127.0.0.1 localhost\n10.0.0.1\tevents.e2b.local\n'],
  [
    'is left alone where it is so',
    `10.0.0.1    events.e2b.local other # ours\n${OTHERS}`,
    `10.0.0.1    events.e2b.local other # ours\n${OTHERS}`,
  ],
  ['replaces the old one', `10.0.0.9 events.e2b.local\n${OTHERS}`, `${OTHERS}10.0.0.1\tevents.e2b.local\n`],
  ['leaves other names of a line', `10.0.0.9 a events.e2b.local b\n${OTHERS}`, `10.0.0.9\ta b\n${OTHERS}10.0.0.1\tevents.e2b.local\n`],
  ['is one, where there were two', `10.0.0.1 events.e2b.local\n::1 events.e2b.local\n`, `10.0.0.1\tevents.e2b.local\n`],
])('the entry %s', (_, before, after) => expect(withHostEntry(before, '10.0.0.1')).toBe(after))
