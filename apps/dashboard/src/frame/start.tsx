import { useEffect, useState } from 'preact/hooks'
import { backOffMs } from '../live/back-off.ts'
import { me } from '../session/me.ts'
import { logIn, readSession } from '../session/session.ts'
import { frameTexts } from '../texts/frame-texts.ts'
import { loginFailure } from '../session/login-failure.ts'

const CODE = /^#code=([\w-]{1,128})$/

/** Follows a one-time link, or finds out who is logged in. A server that is away is asked again until it answers. */
export function Start() {
  const [isAway, setAway] = useState(false)
  useEffect(() => {
    let retry: ReturnType<typeof setTimeout> | undefined
    let attempt = 0
    const code = CODE.exec(location.hash)?.[1]
    // The code must not stay in the history.
    if (code !== undefined) history.replaceState(null, '', location.pathname + location.search)
    const begin = async (): Promise<void> => {
      try {
        if (code !== undefined && attempt === 0) await logIn({ code })
        else await readSession()
      } catch (err) {
        if (code !== undefined && attempt === 0) loginFailure.value = (err as Error).message
        else setAway(true)
        retry = setTimeout(() => void begin(), code !== undefined && attempt === 0 ? 0 : backOffMs(attempt))
        attempt += 1
      }
    }
    if (me.peek() === undefined) void begin()
    return () => clearTimeout(retry)
  }, [])
  return (
    <main id="main" class="login-page" tabIndex={-1}>
      <p class="muted" role="status">
        {isAway ? frameTexts.cannotReach : frameTexts.loading}
      </p>
    </main>
  )
}
