import assert from 'node:assert/strict'

/** The page of the image: with its policy, and its scripts in the compressed form that the build has made. */
export async function checkDashboard(apiUrl: string): Promise<void> {
  const page = await fetch(`${apiUrl}/dashboard/`)
  assert.equal(page.status, 200)
  const html = await page.text()
  const nonce = /nonce="([\w+/=]{24})"/.exec(html)?.[1] ?? ''
  const policy = page.headers.get('content-security-policy') ?? ''
  assert.ok(nonce !== '' && policy.includes(`'nonce-${nonce}'`) && policy.startsWith("default-src 'none'; script-src 'self'"), policy)
  const script = new URL(/src="(\/dashboard\/assets\/[\w.-]+\.js)"/.exec(html)?.[1] ?? '', apiUrl)
  const { text: imports } = await readAsset(script.href, 'identity')
  // The first script is only a few imports, too small to be compressed.
  const first = new URL(/from\s*"(\.\/[\w.-]+\.js)"/.exec(imports)?.[1] ?? '', script).href
  const [plain, packed] = await Promise.all(['identity', 'br'].map((encoding) => readAsset(first, encoding)))
  assert.equal(packed?.encoding, 'br')
  assert.equal(plain?.encoding, null)
  assert.equal(packed.text, plain.text)
  assert.ok(packed.sentBytes < plain.sentBytes / 2, `${packed.sentBytes} of ${plain.sentBytes} bytes`)
}

async function readAsset(url: string, encoding: string): Promise<{ encoding: string | null; sentBytes: number; text: string }> {
  const answer = await fetch(url, { headers: { 'accept-encoding': encoding } })
  assert.equal(answer.status, 200, url)
  assert.match(answer.headers.get('cache-control') ?? '', /immutable/)
  return {
    encoding: answer.headers.get('content-encoding'),
    sentBytes: Number(answer.headers.get('content-length')),
    text: await answer.text(),
  }
}
