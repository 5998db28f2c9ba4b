// Stand-in for ruy's list of instruction sets chosen at run time: there is none.

#ifndef MLGO_TFLITE_STAND_IN_RUY_PATH_H_
#define MLGO_TFLITE_STAND_IN_RUY_PATH_H_
#endif  // MLGO_TFLITE_STAND_IN_RUY_PATH_H_
