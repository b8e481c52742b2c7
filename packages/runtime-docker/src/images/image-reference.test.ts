import { describe, expect, it } from 'vitest'
import { parseImageReference } from './image-reference.ts'

const HEX = 'a'.repeat(64)

describe('an image reference', () => {
  it.for([
    ['debian', 'docker.io', 'library/debian', 'debian:latest'],
    ['debian:bookworm-slim', 'docker.io', 'library/debian', 'debian:bookworm-slim'],
    ['docker.io/library/debian:12', 'docker.io', 'library/debian', 'debian:12'],
    ['index.docker.io/debian', 'docker.io', 'library/debian', 'debian:latest'],
    ['team/app', 'docker.io', 'team/app', 'team/app:latest'],
    ['library/a/b', 'docker.io', 'library/a/b', 'library/a/b:latest'],
    ['localhost/app:1', 'localhost', 'app', 'localhost/app:1'],
    [
      'registry.example:5000/team/app__x/y-z:v1.0_A',
      'registry.example:5000',
      'team/app__x/y-z',
      'registry.example:5000/team/app__x/y-z:v1.0_A',
    ],
    [`debian@sha256:${HEX}`, 'docker.io', 'library/debian', `debian@sha256:${HEX}`],
    [`r.example/a:v1@sha256:${HEX}`, 'r.example', 'a', `r.example/a@sha256:${HEX}`],
    ['602b9296fa52', 'docker.io', 'library/602b9296fa52', '602b9296fa52:latest'],
  ])('%s', ([text = '', registry, path, name]) => {
    expect(parseImageReference(text)).toMatchObject({ text, registry, path, name })
  })

  it.for([
    '',
    ' ',
    'Debian',
    'Registry/app',
    'debian:',
    ':tag',
    'a//b',
    '/a',
    'a/',
    'a b',
    'debian\n',
    'https://r.example/a',
    'a:b:c',
    '-a',
    'a_',
    'r.example:x/a',
    HEX,
    `sha256:${HEX}`,
    `debian@sha256:${HEX.slice(1)}`,
    `debian@md5:${HEX}`,
    'debian@',
    `a:${'t'.repeat(129)}`,
    'a'.repeat(256),
    'scratch',
    'docker.io/library/scratch:1',
  ])('rejects %j', (text) => {
    expect(() => parseImageReference(text)).toThrow('is not a valid image reference')
  })
})
