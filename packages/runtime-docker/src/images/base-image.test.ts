import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { BASE_TEMPLATE_FOLDER } from './base-image.ts'

it('uses the Node version of the project, which npm has in its cache', () => {
  const { node } = JSON.parse(readFileSync(new URL('node.json', BASE_TEMPLATE_FOLDER), 'utf8')) as { node: string }
  const run = readFileSync(new URL('../../tools/run', BASE_TEMPLATE_FOLDER), 'utf8')
  expect(run).toContain(`\nNODE_VERSION=${node}\n`)
})
