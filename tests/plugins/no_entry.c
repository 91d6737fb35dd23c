// SPDX-License-Identifier: Apache-2.0
// A shared object that is no plugin.
int answer(void);
int answer(void) { return 42; }
