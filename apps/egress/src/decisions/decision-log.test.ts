import { expect, it } from 'vitest'
import { DecisionLog, type SandboxDecision } from './decision-log.ts'

const decision: SandboxDecision = {
  sandboxId: 'i1',
  teamId: 't',
  verdict: 'deny',
  rule: 'deny',
  name: 'a.example',
  address: '192.0.2.1',
  port: 443,
}

it('joins equal decisions, and counts those over the caps', () => {
  let dropped = 0
  const log = new DecisionLog({ perSandbox: 2, inAll: 3 }, () => (dropped += 1))
  for (let i = 0; i < 5; i += 1) log.add(decision)
  log.add({ ...decision, verdict: 'allow', rule: 'default' })
  // One sandbox with many destinations does not use the places of others.
  for (let port = 1; port <= 10; port += 1) log.add({ ...decision, port })
  log.add({ ...decision, sandboxId: 'i2' })
  log.add({ ...decision, sandboxId: 'i3' })
  expect(log.take().map(({ sandboxId, verdict, count }) => [sandboxId, verdict, count])).toEqual([
    ['i1', 'deny', 5],
    ['i1', 'allow', 1],
    ['i2', 'deny', 1],
  ])
  expect(dropped).toBe(11)
  expect(log.take()).toEqual([])
  log.add(decision)
  expect(log.take()).toHaveLength(1)
})
