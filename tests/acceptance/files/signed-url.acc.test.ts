import { describe, expect, test } from 'vitest'
import { rawRequest } from '../support/raw-http.ts'
import { server } from '../support/server.ts'
import { daemonPort, headerForm } from '../support/through-proxy.ts'
import { withSandbox } from '../support/with-sandbox.ts'

/** Requests a signed URL without the sandbox's token. With one address for all sandboxes the headers name the sandbox. */
async function open(sandboxId: string, url: string, method = 'GET', body?: string): Promise<{ status: number; text: string }> {
  const { pathname, search } = new URL(url)
  const headers = {
    ...headerForm({ sandboxId }, daemonPort),
    ...(body === undefined ? {} : { 'content-type': 'application/octet-stream' }),
  }
  return rawRequest(server.sandboxUrl, { method, path: pathname + search, headers, ...(body === undefined ? {} : { body }) })
}

function denied(message: string): object {
  return { status: 401, text: expect.stringContaining(`"${message}"`) }
}

describe('signed URLs', () => {
  test('[daemon GET /files] allow exactly the signed request', async () => {
    await withSandbox(async (sandbox) => {
      await sandbox.files.write('a b+c.txt', 'content')
      const url = await sandbox.downloadUrl('a b+c.txt', { user: 'user', useSignatureExpiration: 600 })
      expect(await open(sandbox.sandboxId, url)).toMatchObject({ status: 200, text: 'content' })

      const changed = (name: string, value: string): string => {
        const copy = new URL(url)
        copy.searchParams.set(name, value)
        return copy.href
      }
      expect(await open(sandbox.sandboxId, changed('path', '/etc/passwd'))).toMatchObject(denied('invalid signature'))
      expect(await open(sandbox.sandboxId, changed('username', 'root'))).toMatchObject(denied('invalid signature'))
      expect(await open(sandbox.sandboxId, changed('signature_expiration', '99999999999'))).toMatchObject(denied('invalid signature'))
      expect(await open(sandbox.sandboxId, changed('signature', ''))).toMatchObject({ status: 401 })
      expect(await open(sandbox.sandboxId, url, 'POST', 'overwritten')).toMatchObject(denied('invalid signature'))
      expect(await sandbox.files.read('a b+c.txt')).toBe('content')
    })
  })

  test('[daemon GET /files] are refused after their expiration and without a signature', async () => {
    await withSandbox(async (sandbox) => {
      await sandbox.files.write('f', 'content')
      const expired = await sandbox.downloadUrl('f', { useSignatureExpiration: -10 })
      expect(await open(sandbox.sandboxId, expired)).toMatchObject(denied('signature is already expired'))
      expect(await open(sandbox.sandboxId, `${server.sandboxUrl}/files?path=f`)).toMatchObject(denied('missing signature query parameter'))
    })
  })

  test('[daemon POST /files] accept an upload to the signed path', async () => {
    await withSandbox(async (sandbox) => {
      const url = await sandbox.uploadUrl('up.txt')
      expect(await open(sandbox.sandboxId, url, 'POST', 'uploaded')).toMatchObject({ status: 200 })
      expect(await sandbox.files.read('up.txt')).toBe('uploaded')
      expect(await open(sandbox.sandboxId, url)).toMatchObject(denied('invalid signature'))
    })
  })
})
