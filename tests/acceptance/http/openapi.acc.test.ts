import { expect, test } from 'vitest'
import { callApi } from '../support/api.ts'

interface Operation {
  readonly deprecated?: boolean
  readonly security?: readonly Record<string, unknown>[]
  readonly parameters?: readonly { readonly name: string; readonly in: string }[]
  readonly responses?: Record<string, unknown>
}

interface Description {
  readonly openapi: string
  readonly info: { readonly title: string; readonly version: string }
  readonly paths: Record<string, Record<string, Operation>>
  readonly components?: { readonly schemas?: Record<string, unknown>; readonly securitySchemes?: Record<string, unknown> }
}

const served: [string, string, string][] = [
  ['get', '/health', '200'],
  ['post', '/sandboxes', '201'],
  ['post', '/v2/sandboxes', '201'],
  ['get', '/sandboxes', '200'],
  ['get', '/v2/sandboxes', '200'],
  ['get', '/sandboxes/{sandboxID}', '200'],
  ['delete', '/sandboxes/{sandboxID}', '204'],
  ['post', '/sandboxes/{sandboxID}/timeout', '204'],
  ['post', '/sandboxes/{sandboxID}/refreshes', '204'],
  ['post', '/sandboxes/{sandboxID}/connect', '200'],
  ['post', '/v2/sandboxes/{sandboxID}/connect', '200'],
]

test('/openapi.json describes every operation', async () => {
  const answer = await callApi('GET /openapi.json', { key: false })
  expect(answer).toMatchObject({ status: 200, headers: { 'content-type': expect.stringContaining('application/json') } })
  const { openapi, info, paths, components } = answer.body as unknown as Description
  expect(openapi).toMatch(/^3\./)
  expect(info.version).toBe('0.1.0')
  expect(Object.keys(components?.securitySchemes ?? {}).length).toBeGreaterThan(0)

  for (const [method, path, status] of served) {
    const operation = paths[path]?.[method]
    const name = `${method} ${path}`
    expect(operation, name).toBeDefined()
    expect(Object.keys(operation?.responses ?? {}), name).toContain(status)
    if (path !== '/health') expect(Object.keys(operation?.responses ?? {}), name).toEqual(expect.arrayContaining(['401', '500']))
    if (path.includes('{')) expect(operation?.parameters, name).toContainEqual(expect.objectContaining({ name: 'sandboxID', in: 'path' }))
  }
  expect(paths['/sandboxes']?.['get']?.deprecated).toBe(true)
  expect(paths['/v2/sandboxes']?.['get']?.deprecated ?? false).toBe(false)
})

test('every reference in the description resolves', async () => {
  const { body, text } = await callApi('GET /openapi.json', { key: false })
  const references = [...text.matchAll(/"\$ref":\s*"#\/([^"]+)"/g)].map((match) => match[1] ?? '')
  for (const reference of new Set(references)) {
    const target = reference
      .split('/')
      .reduce<unknown>((node, key) => (node as Record<string, unknown> | undefined)?.[decodeURIComponent(key)], body)
    expect(target, reference).toBeDefined()
  }
})
