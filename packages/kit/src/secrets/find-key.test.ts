import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { findKey, keyVariables } from './find-key.ts'

const folder = mkdtempSync(join(tmpdir(), 'sandyard-key-'))
afterAll(() => rmSync(folder, { recursive: true }))
const write = (name: string, text: string): string => {
  writeFileSync(join(folder, name), text)
  return join(folder, name)
}
const script = (name: string, text: string): string => `${process.execPath} ${write(`${name}.mjs`, text)}`
const made = write('made', 'made key\n')

it('takes the key that is set, then that of the command, then the one that a server has made', async () => {
  const command = script('prints', 'console.log("printed", process.argv[2])')
  const all = { SANDYARD_SECRETS_KEY_PATH: made, OTHER: 'x' }
  expect(await findKey({ ...all, SANDYARD_SECRETS_KEY: 'set' })).toEqual({ ...all, SANDYARD_SECRETS_KEY: 'set' })
  expect(await findKey({ ...all, SANDYARD_SECRETS_KEY_FILE: made })).toEqual({ ...all, SANDYARD_SECRETS_KEY_FILE: made })
  expect(await findKey({ ...all, SANDYARD_SECRETS_KEY_COMMAND: `${command}  key` })).toEqual({
    ...all,
    SANDYARD_SECRETS_KEY: 'printed key',
  })
  expect(await findKey(all)).toEqual({ ...all, SANDYARD_SECRETS_KEY: 'made key' })
  expect(await findKey({ SANDYARD_SECRETS_KEY_PATH: '' }, made)).toMatchObject({ SANDYARD_SECRETS_KEY: 'made key' })
  expect(await findKey({ SANDYARD_SECRETS_KEY_PATH: join(folder, 'nothing') })).not.toHaveProperty('SANDYARD_SECRETS_KEY')
})

it('refuses a command that fails, without what it wrote', async () => {
  const refused = async (text: string): Promise<string> => {
    return findKey({ SANDYARD_SECRETS_KEY_COMMAND: text }).then(
      () => 'accepted',
      (err: Error) => err.message,
    )
  }
  expect(await refused(script('fails', 'console.log("the secret"); console.error("the secret"); process.exit(3)'))).toMatch(/exit code 3$/)
  expect(await refused(script('silent', ''))).toMatch(/printed nothing$/)
  expect(await refused(script('long', 'console.log("the secret".repeat(1000))'))).toMatch(/more than 4096 bytes$/)
  expect(await refused(join(folder, 'no-such-program'))).toMatch(/failed: ENOENT$/)
  await expect(findKey({ SANDYARD_SECRETS_KEY_COMMAND: 'true', SANDYARD_SECRETS_KEY: 'x' })).rejects.toThrow('are both set')
  await expect(findKey({ SANDYARD_SECRETS_KEY_PATH: folder })).rejects.toThrow('cannot be read')
})

it('passes on only what the key ring is made of', () => {
  const keys = { SANDYARD_SECRETS_KEY: 'a', SANDYARD_SECRETS_OLD_KEYS_FILE: 'b' }
  expect(keyVariables({ ...keys, SANDYARD_ADMIN_TOKEN: 'c', SANDYARD_SECRETS_KEY_PATH: 'd' })).toEqual(keys)
})
