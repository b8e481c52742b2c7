import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { Sandbox } from 'e2b'
import { describe, expect, test } from 'vitest'
import { preparePython } from '../support/python-environment.ts'
import { server } from '../support/server.ts'
import { withSandbox } from '../support/with-sandbox.ts'

/** Signed URLs of an SDK with `E2B_SANDBOX_URL`: neither the URL nor a header names the sandbox. */
async function open(url: string, init?: RequestInit): Promise<{ status: number; text: string }> {
  const answer = await fetch(url, init)
  return { status: answer.status, text: await answer.text() }
}

function changed(url: string, name: string, value: string): string {
  const copy = new URL(url)
  copy.searchParams.set(name, value)
  return copy.href
}

async function write(sandbox: Sandbox, path: string, content: string): Promise<string> {
  await sandbox.files.write(path, content)
  return sandbox.downloadUrl(path)
}

const invalid = { status: 401, text: expect.stringContaining('"invalid signature"') }

describe('[proxy signed URL]', () => {
  test('[daemon GET /files] [daemon POST /files] reads and writes in the sandbox of its signature, with and without an expiration', async () => {
    await withSandbox(async (one) => {
      await withSandbox(async (two) => {
        for (const useSignatureExpiration of [undefined, 600]) {
          for (const [sandbox, content] of [
            [one, 'first'],
            [two, 'second'],
          ] as const) {
            const options = useSignatureExpiration === undefined ? {} : { useSignatureExpiration }
            const upload = await sandbox.uploadUrl('a b+c.txt', options)
            expect(new URL(upload).origin).toBe(new URL(server.sandboxUrl).origin)
            const body = new FormData()
            body.append('file', new Blob([content]), 'a b+c.txt')
            expect(await open(upload, { method: 'POST', body })).toMatchObject({ status: 200 })
          }
          expect(await open(await one.downloadUrl('a b+c.txt'))).toEqual({ status: 200, text: 'first' })
          expect(await open(await two.downloadUrl('a b+c.txt', { user: 'user' }))).toEqual({ status: 200, text: 'second' })
        }
      })
    })
  })

  test('[daemon GET /files] refuses wrong and expired signatures', async () => {
    await withSandbox(async (sandbox) => {
      const url = await write(sandbox, 'f', 'content')
      expect(await open(changed(url, 'path', '/etc/passwd'))).toMatchObject(invalid)
      expect(await open(changed(url, 'username', 'root'))).toMatchObject(invalid)
      expect(await open(changed(url, 'signature_expiration', '99999999999'))).toMatchObject(invalid)
      expect(await open(url, { method: 'POST', body: 'x' })).toMatchObject(invalid)
      const expired = await sandbox.downloadUrl('f', { useSignatureExpiration: -10 })
      expect(await open(expired)).toMatchObject({ status: 401, text: expect.stringContaining('"signature is already expired"') })
      expect(await open(`${server.sandboxUrl}/files?path=f`)).toMatchObject({ status: 400, text: expect.stringContaining('Invalid host') })
      expect(await open(url)).toEqual({ status: 200, text: 'content' })
    })
  })

  test('[daemon GET /files] is refused after the end of its sandbox', async () => {
    const url = await withSandbox((sandbox) => write(sandbox, 'f', 'content').then(async (it) => (await open(it), it)))
    await expect.poll(() => open(url), { timeout: 10_000 }).toMatchObject(invalid)
  })

  test('[daemon GET /files] [daemon POST /files] with Python e2b 2.63.0', async ({ skip }) => {
    let missing = ''
    const python = await preparePython().catch((error: unknown) => {
      if (process.env['CI'] === 'true') throw error
      missing = String(error)
      return ''
    })
    skip(missing !== '', missing)
    const child = spawn(python, [join(import.meta.dirname, '../../python/signed_urls.py')], {
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: 60_000,
      env: { ...process.env, NO_PROXY: '127.0.0.1,localhost', no_proxy: '127.0.0.1,localhost' },
    })
    const [stdout, stderr, [status]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])
    expect({ status: status as unknown, stdout, stderr }).toEqual({ status: 0, stdout: 'signed URLs done\n', stderr: expect.any(String) })
  })
})
