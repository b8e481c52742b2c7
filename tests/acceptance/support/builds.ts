import { expect } from 'vitest'
import { callApi } from './api.ts'
import { fromEnvironment } from './server.ts'

/** The headers of a request with a user's access token, without an API key. */
export function bearer(): { readonly key: false; readonly headers: Record<string, string> } {
  return { key: false, headers: { authorization: `Bearer ${fromEnvironment('E2B_ACCESS_TOKEN')}` } }
}

/** Waits until a build has ended, and returns its status. */
export async function endOfBuild(templateId: string, buildId: string): Promise<Record<string, unknown>> {
  const status = async (): Promise<Record<string, unknown>> => (await callApi(`GET /templates/${templateId}/builds/${buildId}/status`)).body
  await expect.poll(async () => (await status())['status'], { timeout: 160_000, interval: 200 }).toMatch(/^(ready|error)$/)
  return status()
}
