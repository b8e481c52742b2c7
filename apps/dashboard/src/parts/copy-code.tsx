import { frameTexts } from '../texts/frame-texts.ts'
import type { ActionCode } from './action-code.ts'
import { copyAndSay } from './copy-and-say.ts'
import { Icon } from './icon.tsx'
import { Menu } from './menu.tsx'

/** The forms of an action, in the order in which they are shown. */
export const CODE_NAMES: readonly (readonly [keyof ActionCode, string])[] = [
  ['cli', 'sandyard'],
  ['javascript', 'JavaScript'],
  ['python', 'Python'],
  ['curl', 'curl'],
]

export interface CopyCodeProps {
  readonly code: ActionCode
  /** What the code does, for the label. */
  readonly label: string
  readonly isSmall?: boolean
  /** Without words on the button. */
  readonly isIcon?: boolean
}

/** A menu with the forms of an action to copy. */
export function CopyCode({ code, label, isSmall = false, isIcon = false }: CopyCodeProps) {
  return (
    <span class="copy-code">
      <Menu
        label={frameTexts.copyAs(label)}
        buttonClass={`button${isSmall ? ' button-small' : ''}${isIcon ? ' button-icon' : ''}`}
        button={
          <>
            <Icon name="code" />
            {!isIcon && frameTexts.copyCode}
          </>
        }
      >
        <p class="menu-title">{frameTexts.copyAs(label)}</p>
        <CodeItems code={code} />
      </Menu>
    </span>
  )
}

/** Items of a menu: each copies one form. */
export function CodeItems({ code }: { readonly code: ActionCode }) {
  return (
    <>
      {CODE_NAMES.map(([name, title]) => {
        const text = code[name]
        return (
          text !== undefined && (
            <button key={name} type="button" onClick={() => void copyAndSay(text)} title={text}>
              <Icon name="copy" />
              {title}
            </button>
          )
        )
      })}
    </>
  )
}
