import { expect, it } from 'vitest'
import { auditTargets } from './audit-targets.ts'

const operation = 'createSandboxV2'

it('has the ids of the path, the body and the answer; those of the answer count', () => {
  const sources = {
    operation,
    params: { sandboxID: 'given' },
    body: { templateID: 'base', name: 'x' },
    answer: { sandboxID: 'i1', templateID: 't1' },
  }
  expect(auditTargets(sources)).toEqual({ sandboxID: 'i1', templateID: 't1', name: 'x' })
})

it('has no secrets and no data of users', () => {
  const body = { templateID: 'base', envVars: { A: 'secret' }, metadata: { a: 'b' }, dockerfile: 'FROM x', network: {} }
  const answer = { sandboxID: 'i1', envdAccessToken: 'secret', key: 'e2b_secret' }
  expect(auditTargets({ operation, params: {}, body, answer })).toEqual({ templateID: 'base', sandboxID: 'i1' })
})

it('has the ids of all forks', () => {
  const answer = [{ sandbox: { sandboxID: 'i2' } }, { error: { code: 500 } }, { sandbox: { sandboxID: 'i3' } }]
  expect(auditTargets({ operation: 'forkSandbox', params: { sandboxID: 'i1' }, body: {}, answer })).toEqual({
    sandboxID: 'i1',
    forkIDs: ['i2', 'i3'],
  })
})

it('has the id of a new key, and not the key', () => {
  const answer = { id: 'k1', key: 'e2b_secret', name: 'ci' }
  expect(auditTargets({ operation: 'createApiKey', params: {}, body: { name: 'ci' }, answer })).toEqual({ name: 'ci', apiKeyID: 'k1' })
})

it('is bounded, and can be stored', () => {
  const tags = [...Array.from({ length: 200 }, (_, at) => `t${at}`), 7]
  const read = auditTargets({ operation, params: { templateID: 'x'.repeat(5000) }, body: { tags, name: 'a\0\ud800' }, answer: undefined })
  expect(read['tags']).toHaveLength(100)
  expect(read['templateID']).toHaveLength(256)
  expect(read['name']).toBe('a\ufffd')
})

it.each([undefined, null, 'text', 7, [null], ['x']])('ignores %j', (value) => {
  expect(auditTargets({ operation, params: value, body: value, answer: value })).toEqual({})
})
