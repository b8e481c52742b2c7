import { describe, expect, it } from 'vitest'
import { toBuildError } from './builder-errors.ts'

const ID = 'a'.repeat(64)

describe('an error of the builder', () => {
  it.for<[string, number | undefined, string, string]>([
    [
      "The command '/bin/sh -c false' returned a non-zero code: 1",
      undefined,
      'failed_precondition',
      "The command '/bin/sh -c false' returned a non-zero code: 1",
    ],
    [
      '(HTTP code 400) unexpected - dockerfile parse error line 2: unknown instruction: X ',
      400,
      'failed_precondition',
      'dockerfile parse error line 2: unknown instruction: X',
    ],
    [
      `COPY failed: stat /var/lib/docker/overlay2/${ID}/merged/x: no such file`,
      undefined,
      'failed_precondition',
      'COPY failed: stat ...: no such file',
    ],
    [
      'OCI runtime create failed: exec: "/bin/sh": stat /bin/sh: no such file or directory',
      undefined,
      'failed_precondition',
      'the image has no /bin/sh, which RUN needs',
    ],
    [`cannot join network of a non running container: ${ID}`, undefined, 'unavailable', 'The sandbox of the build has ended.'],
    ['write /var/lib/docker/x: no space left on device', undefined, 'insufficient_storage', 'The disk of the Docker engine is full.'],
    ['OCI runtime create failed: something of the host', undefined, 'internal', 'The Dockerfile could not be built.'],
    ['(HTTP code 500) server error - something of the host', 500, 'internal', 'The Dockerfile could not be built.'],
  ])('%s', ([text, statusCode, kind, message]) => {
    expect(toBuildError(Object.assign(new Error(text), { statusCode }))).toMatchObject({ kind, message })
  })
})
