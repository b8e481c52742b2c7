import { Sandbox } from 'e2b'
import { expect, test } from 'vitest'
import { withRawSandbox } from '../support/raw-sandbox.ts'
import { daemonPort, headerForm, throughProxy } from '../support/through-proxy.ts'

function compose(sandboxId: string, body: object, { headers = {}, query = '' }: { headers?: Record<string, string>; query?: string } = {}) {
  return throughProxy(headerForm({ sandboxId }, daemonPort), {
    method: 'POST',
    path: `/files/compose${query}`,
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
}

test('[daemon POST /files/compose] composes the parts of a file with the access token only', async () => {
  await withRawSandbox('POST /v2/sandboxes', { secure: true }, async ({ id, token }) => {
    const sandbox = await Sandbox.connect(id)
    const parts = Array.from({ length: 20 }, (_, index) => ({ path: `parts/${index}`, data: `part ${index}\n`.repeat(10_000) }))
    await sandbox.files.write(parts)
    await sandbox.files.write('whole', 'old')
    const body = { source_paths: parts.map(({ path }) => path), destination: 'whole' }

    const answer = await compose(id, body, { headers: { 'x-access-token': token } })
    expect(answer).toMatchObject({ status: 200, headers: { 'content-type': 'application/json' } })
    expect(JSON.parse(answer.text)).toEqual({ path: '/home/user/whole', name: 'whole', type: 'file' })
    expect(await sandbox.files.read('whole')).toBe(parts.map(({ data }) => data).join(''))
    expect(await sandbox.files.getInfo('whole')).toMatchObject({ owner: 'user', group: 'user', permissions: '-rw-r--r--' })
    expect(await sandbox.files.list('parts')).toEqual([])
    expect((await sandbox.files.list('.')).filter(({ name }) => name.includes('compose'))).toEqual([])
  })
})

test('[daemon POST /files/compose] refuses a signature (envd.md 18.8) and then changes nothing', async () => {
  await withRawSandbox('POST /v2/sandboxes', { secure: true }, async ({ id, token }) => {
    const sandbox = await Sandbox.connect(id)
    await sandbox.files.write('part', 'part')
    const body = { source_paths: ['part', 'gone'], destination: 'whole' }
    const { search } = new URL(await sandbox.uploadUrl('whole'))
    const refused = { code: 401, message: 'unauthorized access, please provide a valid access token or method signing if supported' }
    for (const answer of [await compose(id, body), await compose(id, body, { query: search })]) {
      expect({ status: answer.status, body: JSON.parse(answer.text) }).toEqual({ status: 401, body: refused })
    }
    const missing = await compose(id, body, { headers: { 'x-access-token': token } })
    expect(JSON.parse(missing.text)).toEqual({ code: 404, message: 'source file not found: gone' })
    expect([await sandbox.files.read('part'), await sandbox.files.exists('whole')]).toEqual(['part', false])
  })
})
