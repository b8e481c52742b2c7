import { PassThrough } from 'node:stream'
import type Docker from 'dockerode'
import { expect, it } from 'vitest'
import { sandboxLabels } from '../labels.ts'
import { engineEvents } from './engine-events.ts'

const line = (sandboxId: string): string =>
  `${JSON.stringify({ Action: 'die', Actor: { Attributes: sandboxLabels('home', { sandboxId, incarnation: 1 }) } })}\n`

it.each([
  '{"Action":"die","Act',
  '<html>502 Bad Gateway</html>',
  'null',
  '{"Action":"die"}',
  '{"Action":"die","Actor":{"Attributes":null}}',
  '7',
])('ends the stream after the events before it at the line %s', async (broken) => {
  const answer = new PassThrough()
  const docker = { getEvents: async () => answer } as unknown as Docker
  const events = await engineEvents(docker, { installation: 'home', signal: new AbortController().signal })
  answer.write(`${line('i1')}${broken}\n${line('i2')}`)
  expect((await Array.fromAsync(events)).map(({ sandboxId }) => sandboxId)).toEqual(['i1'])
  expect(answer.destroyed).toBe(true)
})
