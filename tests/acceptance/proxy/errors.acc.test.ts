import { describe, expect, test } from 'vitest'
import { Sandbox } from 'e2b'
import { daemonPort, headerForm, hostForm, throughProxy } from '../support/through-proxy.ts'
import { unknownSandboxId } from '../support/api.ts'
import { withSandbox } from '../support/with-sandbox.ts'

const json = 'application/json; charset=utf-8'
const browser = {
  'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36',
  accept: 'text/html,application/xhtml+xml,*/*;q=0.8',
}

function notFound(sandboxId: string): object {
  return { sandboxId, message: 'The sandbox was not found', code: 502 }
}

function closed(sandboxId: string, port: number): object {
  return { sandboxId, message: 'The sandbox is running but port is not open', port, code: 502 }
}

describe.each([
  ['[proxy host form]', hostForm],
  ['[proxy header form]', headerForm],
] as const)('%s', (_, form) => {
  test('returns 502 for a port without a listener', async () => {
    await withSandbox(async (sandbox) => {
      const answer = await throughProxy(form(sandbox, 8125), { path: '/' })
      expect(answer).toMatchObject({ status: 502, headers: { 'content-type': json } })
      expect(JSON.parse(answer.text)).toEqual(closed(sandbox.sandboxId, 8125))
    })
  })

  test('returns 502 for a killed sandbox', async () => {
    await withSandbox(async (sandbox) => {
      expect(await throughProxy(form(sandbox, daemonPort), { path: '/health' })).toMatchObject({ status: 204, text: '' })
      await sandbox.kill()
      await expect
        .poll(async () => (await throughProxy(form(sandbox, daemonPort), { path: '/health' })).status, { timeout: 10_000 })
        .toBe(502)
      const answer = await throughProxy(form(sandbox, 8125), { path: '/', method: 'POST', body: 'x', headers: { 'content-length': '1' } })
      expect(answer).toMatchObject({ status: 502, headers: { 'content-type': json } })
      expect(JSON.parse(answer.text)).toEqual(notFound(sandbox.sandboxId))
    })
  })
})

describe('[proxy header form]', () => {
  test('returns 502 for an unknown sandbox', async () => {
    const answer = await throughProxy(headerForm({ sandboxId: unknownSandboxId }, 80), { path: '/' })
    expect(answer).toMatchObject({ status: 502, headers: { 'content-type': json } })
    expect(JSON.parse(answer.text)).toEqual(notFound(unknownSandboxId))
  })

  test('refuses an incomplete address', async () => {
    const refusals: [Record<string, string>, unknown][] = [
      [{}, 'Invalid host'],
      [{ 'e2b-sandbox-id': unknownSandboxId }, expect.stringContaining('missing header')],
      [{ 'e2b-sandbox-port': '80' }, expect.stringContaining('missing header')],
      [{ 'e2b-sandbox-id': 'NOT AN ID', 'e2b-sandbox-port': '80' }, 'Invalid sandbox ID'],
      [{ 'e2b-sandbox-id': unknownSandboxId, 'e2b-sandbox-port': 'eighty' }, 'Invalid sandbox port'],
      [{ 'e2b-sandbox-id': unknownSandboxId, 'e2b-sandbox-port': '70000' }, 'Invalid sandbox port'],
    ]
    for (const [headers, text] of refusals) {
      const answer = await throughProxy(headers, { path: '/' })
      expect({ ...answer, text: answer.text.trim() }, JSON.stringify(headers)).toMatchObject({ status: 400, text })
    }
  })
})

describe('[proxy host form]', () => {
  test('refuses a host without the port of a sandbox', async () => {
    const refusals: [string, string][] = [
      ['nodot', 'Invalid host'],
      ['nodash.sandyard.test', 'Invalid host'],
      [`80-NOT_AN_ID.sandyard.test`, 'Invalid sandbox ID'],
      [`http-${unknownSandboxId}.sandyard.test`, 'Invalid sandbox port'],
      [`0x50-${unknownSandboxId}.sandyard.test`, 'Invalid sandbox port'],
    ]
    for (const [host, text] of refusals) {
      const answer = await throughProxy({ host }, { path: '/' })
      expect({ ...answer, text: answer.text.trim() }, host).toMatchObject({ status: 400, text })
    }
  })

  test('takes precedence over the headers, which count only for an IP address or localhost', async () => {
    await withSandbox(async (sandbox) => {
      const headers = { host: `80-${unknownSandboxId}.sandyard.test`, ...headerForm(sandbox, daemonPort) }
      expect(JSON.parse((await throughProxy(headers, { path: '/health' })).text)).toEqual(notFound(unknownSandboxId))
    })
  })

  test('returns the same error to a browser as a page', async () => {
    await withSandbox(async (sandbox) => {
      const dead = await throughProxy({ host: `80-${unknownSandboxId}.sandyard.test` }, { path: '/', headers: browser })
      expect(dead).toMatchObject({ status: 502, headers: { 'content-type': 'text/html; charset=utf-8' } })
      expect(dead.text.trim()).toMatch(/^<html[\s\S]*Sandbox Not Found[\s\S]*<\/html>$/)
      expect(dead.text).toContain(unknownSandboxId)

      const silent = await throughProxy(hostForm(sandbox, 8125), { path: '/', headers: browser })
      expect(silent).toMatchObject({ status: 502, headers: { 'content-type': 'text/html; charset=utf-8' } })
      expect(silent.text).toContain('no service running on port')
      expect(silent.text).toContain('8125')

      const script = await throughProxy(hostForm(sandbox, 8125), { path: '/', headers: { ...browser, 'sec-fetch-mode': 'cors' } })
      expect(JSON.parse(script.text)).toEqual(closed(sandbox.sandboxId, 8125))
    })
  })
})

describe('[daemon POST /init]', () => {
  const reserved = 'This endpoint is reserved for the E2B control plane and is not reachable through the sandbox URL'

  test('and the other routes of the control plane are refused in every spelling (envd.md 18.13)', async () => {
    await withSandbox(async (sandbox) => {
      const routes = ['/init', '/freeze', '/unfreeze', '/fsfreeze', '/fsthaw', '/collapse', '/upgrade']
      const spellings = [...routes, '//init', '/./init', '/files/../init', '/%69nit', '/init/', '/init?x=1']
      for (const path of spellings) {
        for (const method of ['POST', 'GET', 'PUT']) {
          for (const form of [hostForm, headerForm]) {
            const answer = await throughProxy(form(sandbox, daemonPort), { method, path })
            expect(answer.status, `${method} ${path}`).toBe(404)
            expect(JSON.parse(answer.text), `${method} ${path}`).toMatchObject({ message: reserved, code: 404 })
          }
        }
      }
    })
  })

  test('is refused before the lookup of the sandbox, and on the port of the daemon only', async () => {
    const answer = await throughProxy(headerForm({ sandboxId: unknownSandboxId }, daemonPort), { method: 'POST', path: '/init' })
    expect(JSON.parse(answer.text)).toEqual({ message: reserved, path: '/init', code: 404 })
    const other = await throughProxy(headerForm({ sandboxId: unknownSandboxId }, 80), { method: 'POST', path: '/init' })
    expect(JSON.parse(other.text)).toEqual(notFound(unknownSandboxId))
  })
})

describe('[daemon GET /health]', () => {
  test('reports to the SDK whether a sandbox runs', async () => {
    await withSandbox(async (sandbox) => {
      expect(await sandbox.isRunning()).toBe(true)
      expect(await (await Sandbox.connect(sandbox.sandboxId)).isRunning()).toBe(true)
      await sandbox.kill()
      await expect.poll(() => sandbox.isRunning(), { timeout: 10_000 }).toBe(false)
    })
  })
})
