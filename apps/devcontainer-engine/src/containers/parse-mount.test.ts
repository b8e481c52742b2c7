import { describe, expect, it } from 'vitest'
import { parseMount, parseVolume } from './parse-mount.ts'

describe('parseMount', () => {
  it('reads what the CLI writes', () => {
    expect(parseMount('type=bind,source=/a,target=/b,consistency=cached')).toEqual({ type: 'bind', source: '/a', target: '/b' })
    expect(parseMount('type=volume,src=v,dst=/b')).toEqual({ type: 'volume', source: 'v', target: '/b' })
  })

  it.each([
    ['type=tmpfs,target=/b', "a mount of the type 'tmpfs' is not supported"],
    ['type=bind,source=/a,target=/b,readonly', "a mount with 'readonly' is not supported"],
    ['type=bind,source=a,target=/b', 'needs a source and an absolute target'],
    ['type=volume,source=../v,target=/b', 'needs a source and an absolute target'],
    ['type=bind,source=/a:c,target=/b', 'without colons'],
  ])('refuses %s', (text, message) => {
    expect(() => parseMount(text)).toThrow(message)
  })
})

describe('parseVolume', () => {
  it('takes a path as a folder of the sandbox and a name as a volume, and refuses to be read-only', () => {
    expect(parseVolume('/a:/b')).toEqual({ type: 'bind', source: '/a', target: '/b' })
    expect(parseVolume('v:/b:rw')).toEqual({ type: 'volume', source: 'v', target: '/b' })
    expect(() => parseVolume('/a:/b:ro')).toThrow("a mount with 'ro' is not supported")
  })
})
