extern "C" const int of_stamp = 1;
