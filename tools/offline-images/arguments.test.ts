import { expect, it } from 'vitest'
import { parseArguments } from './arguments.ts'
import type { StandIn } from './stand-in.ts'

const debian: StandIn = { image: 'debian:bookworm-slim', madeOf: '', recipe: 'debian' }
const metrics: StandIn = { image: 'prom/prometheus:v3.5.0', madeOf: '', recipe: 'none' }
const onRequest: StandIn = { image: 'ubuntu:22.04', madeOf: '', recipe: 'none', isOnRequest: true }
const all = [debian, metrics, onRequest]

it('makes all but those on request without a name, and lists and removes all', () => {
  expect(parseArguments([], all)).toEqual({ action: 'make', standIns: [debian, metrics], isVerbose: false })
  expect(parseArguments(['--list'], all)).toMatchObject({ action: 'list', standIns: all })
  expect(parseArguments(['--remove'], all)).toMatchObject({ action: 'remove', standIns: all })
})

it('selects by full name and by name without tag', () => {
  expect(parseArguments(['ubuntu', 'prom/prometheus:v3.5.0', '--verbose'], all)).toEqual({
    action: 'make',
    standIns: [metrics, onRequest],
    isVerbose: true,
  })
})

it.each([
  [['--force'], 'There is no option --force.'],
  [['--list', '--remove'], '--list and --remove exclude each other.'],
  [['debian:bookworm'], 'There is no stand-in for debian:bookworm, only for debian:bookworm-slim, prom/prometheus:v3.5.0, ubuntu:22.04.'],
])('refuses %j', (args, sentence) => {
  expect(parseArguments(args, all)).toBe(sentence)
})
