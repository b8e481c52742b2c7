import type { BuildDetail } from '@sandyard/dashboard-contract/templates'
import { buildsTexts as texts } from '../../texts/builds-texts.ts'

/** What the builder puts before each line of a step, which is named above the lines. */
const PREFIX = /^\[builder \d+\/\d+\] (\[std(out|err)\]: )?/

/** The step that failed, its reason, and its last lines: what is looked for first. */
export function FailingStep({ build: { status, reason, steps, failingLines } }: { readonly build: BuildDetail }) {
  if (status !== 'failed' || reason === null) return null
  const step = steps.find((other) => other.step === reason.step)
  return (
    <section class="panel failing-step" aria-labelledby="failing-step">
      <div class="panel-head">
        <h2 id="failing-step">{texts.failingStep}</h2>
        {reason.step !== null && <span class="badge badge-bad">{texts.step(reason.step)}</span>}
        {step !== undefined && <code class="truncate grow">{step.text}</code>}
      </div>
      <div class="panel-body stack">
        <p class="failing-reason">{reason.message}</p>
        {failingLines.length > 0 && (
          // A region that scrolls must be reached by the keyboard.
          // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
          <pre class="code-block" role="region" aria-label={texts.lastLines} tabIndex={0}>
            {failingLines
              .filter(({ text }) => !text.endsWith(reason.message))
              .map(({ text }) => text.replace(PREFIX, ''))
              .join('\n')}
          </pre>
        )}
      </div>
    </section>
  )
}
