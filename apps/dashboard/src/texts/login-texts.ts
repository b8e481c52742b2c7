/** The texts of screens/login. */
export const loginTexts = {
  title: 'Login',
}
