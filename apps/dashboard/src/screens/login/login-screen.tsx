import { useEffect, useRef, useState } from 'preact/hooks'
import { loginFailure } from '../../session/login-failure.ts'
import { logIn } from '../../session/session.ts'
import { CopyButton } from '../../parts/copy-button.tsx'
import { loginTexts } from '../../texts/login-texts.ts'
import '../../styles/login.css'
import '../../styles/forms.css'

export function LoginScreen() {
  const [isAdmin, setAdmin] = useState(false)
  const [value, setValue] = useState('')
  const [failure, setFailure] = useState<string>()
  const [isRunning, setRunning] = useState(false)
  const input = useRef<HTMLInputElement>(null)
  useEffect(() => input.current?.focus(), [isAdmin])
  const submit = async (): Promise<void> => {
    const credential = value.trim()
    if (credential === '' || isRunning) return
    setRunning(true)
    try {
      await logIn(isAdmin ? { adminToken: credential } : { key: credential })
    } catch (err) {
      setFailure((err as Error).message)
      input.current?.select()
    }
    setRunning(false)
  }
  const linkFailure = loginFailure.value
  const problem = failure ?? (linkFailure === undefined ? undefined : loginTexts.linkFailed(linkFailure))
  return (
    <div class="login panel">
      <svg class="login-mark" viewBox="0 0 20 20" aria-hidden="true">
        <path d="M10 1.5l7.5 4.25v8.5L10 18.5l-7.5-4.25v-8.5z" />
        <path d="M2.8 12.2c2.4-2 4.8-2 7.2 0s4.8 2 7.2 0" />
      </svg>
      <h1>{loginTexts.title}</h1>
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault()
          void submit()
        }}
      >
        <div class="field">
          <label for="credential">{isAdmin ? loginTexts.adminToken : loginTexts.key}</label>
          <input
            ref={input}
            id="credential"
            class="input mono"
            type="password"
            autocomplete="off"
            spellcheck={false}
            maxLength={1024}
            aria-describedby="credential-hint"
            aria-invalid={problem !== undefined}
            value={value}
            onInput={({ currentTarget }) => setValue(currentTarget.value)}
          />
          <p id="credential-hint" class="hint">
            {isAdmin ? loginTexts.adminHint : loginTexts.keyHint} {loginTexts.stays}
          </p>
        </div>
        {problem !== undefined && (
          <p class="notice notice-failed" role="alert">
            {problem}
          </p>
        )}
        <button type="submit" class="button button-primary" disabled={isRunning || value.trim() === ''}>
          {isRunning && <span class="spinner" />}
          {loginTexts.signIn}
        </button>
        <button
          type="button"
          class="button button-quiet"
          onClick={() => {
            setAdmin(!isAdmin)
            setValue('')
            setFailure(undefined)
          }}
        >
          {isAdmin ? loginTexts.toKey : loginTexts.toAdmin}
        </button>
      </form>
      <p class="login-link muted small">
        {loginTexts.link}
        <span class="row">
          <code>{loginTexts.command}</code>
          <CopyButton text={loginTexts.command} label={loginTexts.command} />
        </span>
      </p>
    </div>
  )
}
